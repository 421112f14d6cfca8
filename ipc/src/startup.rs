//! Decides whether a runtime waits at its start to be resumed.

use crate::command::process::Variable;
use crate::command::process_info::ProcessInfo;

/// How far the start of a runtime has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Startup {
    /// Managed code runs.
    Running,
    /// The runtime waits to be resumed.
    Suspended,
    /// The runtime was configured to wait at startup, and it is unknown whether it still does.
    PerhapsSuspended,
}

/// Decides how far the start of a runtime has got. `is_asked` says that the runtime was told to
/// wait. Then it is suspended if its command line has no assembly. A program in a single file never
/// has one, so the answer may be [`Startup::PerhapsSuspended`].
pub(crate) fn startup_from(info: &ProcessInfo, is_asked: bool) -> Startup {
    if !is_asked {
        return Startup::Running;
    }
    match info.entry_assembly.as_deref() {
        Some(name) if !name.is_empty() => {
            let assembly = format!("{name}.dll");
            let shows = info.command_line.contains(&format!("{assembly} "))
                || info.command_line.ends_with(&assembly);
            if shows { Startup::Running } else { Startup::Suspended }
        }
        _ => Startup::PerhapsSuspended,
    }
}

/// Port that `DOTNET_DiagnosticPorts` of a process names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedPort {
    /// Address, without the words after it.
    pub address: String,
    /// Whether the runtime shall listen at the address. Runtimes for desktops and servers ignore
    /// such a port.
    pub listens: bool,
    /// Whether the runtime waits at startup until it is resumed over this port. With several such
    /// ports it waits for all.
    pub suspends: bool,
}

impl NamedPort {
    /// Parses the value of `DOTNET_DiagnosticPorts`.
    ///
    /// ```
    /// let ports = nettrace_ipc::NamedPort::parse("/a;/b,nosuspend;/c,listen");
    /// assert_eq!(ports.iter().map(|port| port.suspends).collect::<Vec<_>>(), [true, false, false]);
    /// assert!(ports[2].listens);
    /// ```
    pub fn parse(value: &str) -> Vec<NamedPort> {
        let port = |text: &str| {
            let mut parts = text.split(',').map(str::trim);
            let address = parts.next().filter(|address| !address.is_empty())?.to_owned();
            let tags: Vec<String> = parts.map(str::to_ascii_lowercase).collect();
            // The first word of a pair counts.
            let first = |one: &str, other: &str| {
                tags.iter().find(|tag| *tag == one || *tag == other).is_some_and(|tag| tag == one)
            };
            let listens = first("listen", "connect");
            let suspends = !listens && !first("nosuspend", "suspend");
            Some(NamedPort { address, listens, suspends })
        };
        value.split(';').filter_map(port).collect()
    }
}

/// Returns the ports that environment variables name.
pub(crate) fn named_ports(environment: &[Variable]) -> Vec<NamedPort> {
    let names = ["DOTNET_DiagnosticPorts", "COMPlus_DiagnosticPorts"];
    NamedPort::parse(value_of(environment, names).unwrap_or_default())
}

/// Returns the value of the first of these environment variables that is set.
fn value_of<'e>(environment: &'e [Variable], names: [&str; 2]) -> Option<&'e str> {
    let of = |name: &str| environment.iter().find(|variable| variable.name == name);
    names.into_iter().find_map(of).and_then(|variable| variable.value.as_deref())
}

/// Returns whether environment variables make a runtime wait at startup. That is so if they name a
/// port without the option `nosuspend`, or if the runtime has to wait for its default port.
pub(crate) fn suspends_at_startup(environment: &[Variable]) -> bool {
    let names = ["DOTNET_DefaultDiagnosticPortSuspend", "COMPlus_DefaultDiagnosticPortSuspend"];
    let default = value_of(environment, names);
    named_ports(environment).iter().any(|port| port.suspends)
        || default.is_some_and(|value| value.trim() == "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str, value: &str) -> Vec<Variable> {
        vec![Variable { name: name.to_owned(), value: Some(value.to_owned()) }]
    }

    #[test]
    fn a_connect_port_suspends_unless_its_first_tag_says_otherwise() {
        let suspends =
            |value: &str| suspends_at_startup(&environment("DOTNET_DiagnosticPorts", value));
        for value in [
            "a",
            "a,suspend",
            "a,connect",
            "a,x",
            "a,suspend,nosuspend",
            "a,nosuspend;b",
            "a,connect,listen",
        ] {
            assert!(suspends(value), "{value}");
        }
        for value in
            ["", ";", " ", "a,nosuspend", "a,NoSuspend,suspend", "a,listen", "a,listen,connect"]
        {
            assert!(!suspends(value), "{value}");
        }
        assert!(suspends_at_startup(&environment("DOTNET_DefaultDiagnosticPortSuspend", "1")));
        assert!(!suspends_at_startup(&environment("DOTNET_DefaultDiagnosticPortSuspend", "0")));
    }

    #[test]
    fn a_suspended_command_line_lacks_the_assembly() {
        let mut info = ProcessInfo {
            pid: 1,
            cookie: crate::Guid::default(),
            command_line: "/app/w8/workload".to_owned(),
            operating_system: String::new(),
            architecture: String::new(),
            entry_assembly: Some("workload".to_owned()),
            product_version: None,
            runtime_identifier: None,
        };
        assert_eq!(startup_from(&info, true), Startup::Suspended);
        assert_eq!(startup_from(&info, false), Startup::Running);
        info.command_line.push_str(" /app/w8/workload.dll sleep 0");
        assert_eq!(startup_from(&info, true), Startup::Running);
        info.entry_assembly = None;
        assert_eq!(startup_from(&info, true), Startup::PerhapsSuspended);
    }
}
