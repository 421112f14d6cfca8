//! Reads perf maps, in which runtimes describe compiled code for Linux tools (`/tmp/perf-PID.map`).
//! Each line is a symbol: start and size in hexadecimal, then the name.
//!
//! ```text
//! 7f2a10001000 3c void [workload] Workload.Program::Main(string[])[QuickJitted]
//! ```

use super::method_name::MethodName;

/// Returns the symbols of a perf map: first address, size in bytes, and name. Malformed lines are
/// skipped.
///
/// ```
/// let map = "1000 20 void [app] Program::Main(string[])[Tier0]\nnot a line\n";
/// let symbols: Vec<_> = nettrace_analysis::perf_map(map).collect();
/// assert_eq!(symbols, [(0x1000, 0x20, "void [app] Program::Main(string[])[Tier0]")]);
/// ```
pub fn perf_map(text: &str) -> impl Iterator<Item = (u64, u64, &str)> {
    text.lines().filter_map(|line| {
        let (start, rest) = line.split_once(' ')?;
        let (size, name) = rest.split_once(' ')?;
        let number =
            |text: &str| u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok();
        let (start, size, name) = (number(start)?, number(size)?, name.trim_end());
        (size > 0 && !name.is_empty()).then_some((start, size, name))
    })
}

impl<'t> MethodName<'t> {
    /// Reads a name in .NET's format: `ReturnType [module] Type::Method(args)[Tier]`. Returns `None`
    /// for a name in another format.
    pub(super) fn from_perf_map(name: &'t str) -> Option<MethodName<'t>> {
        let (before, rest) = name.split_once('[')?;
        let (module, rest) = rest.split_once("] ")?;
        // All names in .NET's format have a return type.
        if !before.ends_with(' ') || module.is_empty() {
            return None;
        }
        let (type_name, rest) = rest.split_once("::")?;
        let at = rest.find('(').unwrap_or(rest.len());
        let (method, signature) = rest.split_at_checked(at)?;
        let signature = match signature.rfind(')') {
            Some(end) => signature.get(..=end)?,
            None => signature,
        };
        let method =
            if signature.is_empty() { method.split('[').next().unwrap_or(method) } else { method };
        Some(MethodName { module, type_name, method, signature })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dotnet_are_taken_apart() {
        let name = "class System.Object [System.Private.CoreLib] System.Text.X`1[System.__Canon]::Get(int32)[PreJIT]";
        let name = MethodName::from_perf_map(name).unwrap();
        assert_eq!(
            (name.module, name.type_name),
            ("System.Private.CoreLib", "System.Text.X`1[System.__Canon]")
        );
        assert_eq!((name.method, name.signature), ("Get", "(int32)"));
        assert!(MethodName::from_perf_map("std::vector<int>::push_back(int)").is_none());
        assert!(MethodName::from_perf_map("GenerateLookupStub<0x7f>").is_none());
    }
}
