//! Finds the public method for an internal method of the framework.

use super::names::Frame;

/// Public types of reflection, which the runtime implements as `RuntimeType` and so on.
const REFLECTION: [&str; 6] =
    ["Type.", "MethodInfo.", "PropertyInfo.", "FieldInfo.", "ConstructorInfo.", "Assembly."];

/// Returns the name of a method as its callers write it: `Regex.IsMatch` for
/// `System.Text.RegularExpressions!System.Text.RegularExpressions.Regex.IsMatch(string)`.
pub(crate) fn public_call(frame: &Frame) -> String {
    let name = format!("{}{}", frame.qualified_name(), frame.call_text());
    // Dots in type arguments separate nothing.
    let mut depth = 0_usize;
    let mut dots = Vec::new();
    for (at, letter) in name.char_indices() {
        match letter {
            '<' | '[' => depth = depth.saturating_add(1),
            '>' | ']' => depth = depth.saturating_sub(1),
            '.' if depth == 0 => dots.push(at),
            _ => {}
        }
    }
    // `.ctor` begins with a dot, and the name of a lambda includes its method.
    let is_longer = matches!(&*frame.method, ".ctor" | ".cctor") || frame.is_lambda();
    let back = if is_longer { 3 } else { 2 };
    let from = dots.len().checked_sub(back).and_then(|at| dots.get(at));
    let name = from.and_then(|at| name.get(at.saturating_add(1)..)).unwrap_or(&name);
    // `RuntimeType.GetMethods` implements `Type.GetMethods`.
    let name = REFLECTION
        .iter()
        .find_map(|known| name.strip_prefix("Runtime").filter(|rest| rest.starts_with(known)))
        .unwrap_or(name);
    if is_wait_for_task(name) {
        let has_result = frame.method.contains("Result");
        return if has_result { "Task.Result" } else { "Task.Wait" }.to_owned();
    }
    // `GetPropertyImpl` implements `GetProperty`.
    ["Impl", "Internal", "Core"]
        .iter()
        .find_map(|end| name.strip_suffix(end).filter(|name| !name.ends_with('.')))
        .unwrap_or(name)
        .to_owned()
}

fn is_wait_for_task(name: &str) -> bool {
    let waits = [".InternalWait", ".SpinThenBlockingWait", ".GetResult", ".get_Result"];
    name.starts_with("Task")
        && !name.contains("Awaiter")
        && waits.iter().any(|wait| name.contains(wait))
}
