//! Finds the public method for an internal method of the framework.

use super::names::Frame;

/// Public types of reflection, which the runtime implements as `RuntimeType` and so on.
const REFLECTION: [&str; 6] =
    ["Type.", "MethodInfo.", "PropertyInfo.", "FieldInfo.", "ConstructorInfo.", "Assembly."];

/// Internal methods, or all methods of internal types where the method is empty, and the public call
/// behind them. A public call that ends in a dot is the type of a call with the same method.
const INTERNALS: &[(&str, &str, &str)] = &[
    ("AsyncHelpers", "HandleAsyncEntryPoint", "Task.Wait"),
    ("Barrier", "DiscontinuousWait", "Barrier.SignalAndWait"),
    ("BlockingCollection", "TryAddWithNoTimeValidation", "BlockingCollection.Add"),
    ("BlockingCollection", "TryTakeWithNoTimeValidation", "BlockingCollection.Take"),
    ("BufferedFileStreamStrategy", "", "FileStream."),
    ("FileStreamHelpers", "FlushToDisk", "FileStream.Flush"),
    ("FileStreamStrategy", "", "FileStream."),
    ("HttpListener", "EndGetContext", "HttpListener.GetContext"),
    ("Interop.Sys", "FSync", "FileStream.Flush"),
    ("Interop.Sys", "ForkAndExecProcess", "Process.Start"),
    ("Interop.Sys", "PRead", "RandomAccess.Read"),
    ("Interop.Sys", "PWrite", "RandomAccess.Write"),
    ("Interop.Kernel32", "CreateProcess", "Process.Start"),
    ("Interop.Kernel32", "FlushFileBuffers", "FileStream.Flush"),
    ("Lazy", "CreateValue", "Lazy.Value"),
    ("Lazy", "ExecutionAndPublication", "Lazy.Value"),
    ("Lazy", "ViaFactory", "Lazy.Value"),
    ("Lazy", "get_Value", "Lazy.Value"),
    ("Monitor", "Enter_Slowpath", "Monitor.Enter"),
    ("Monitor", "ObjWait", "Monitor.Wait"),
    ("Monitor", "TryEnter_Slowpath", "Monitor.TryEnter"),
    ("OSFileStreamStrategy", "", "FileStream."),
    ("Process", "ForkAndExecProcess", "Process.Start"),
    ("Process", "StartWithCreateProcess", "Process.Start"),
    ("ProcessWaitState", "WaitForExit", "Process.WaitForExit"),
    ("RandomAccess", "ReadAtOffset", "RandomAccess.Read"),
    ("RandomAccess", "WriteAtOffset", "RandomAccess.Write"),
    ("Regex", "RunSingleMatch", "Regex.IsMatch"),
    ("SemaphoreSlim", "WaitUntilCountOrTimeout", "SemaphoreSlim.Wait"),
    ("String", "FormatHelper", "String.Format"),
    ("TaskAwaiter", "HandleNonSuccessAndDebuggerNotification", "Task.Wait"),
    ("UnixFileStreamStrategy", "", "FileStream."),
    ("WaitHandle", "WaitMultiple", "WaitHandle.WaitAny"),
    ("WaitHandle", "WaitOneNoCheck", "WaitHandle.WaitOne"),
    ("WindowsFileStreamStrategy", "", "FileStream."),
];

/// Returns the public call behind an internal method of the framework; `None` if the table has none.
fn behind(frame: &Frame) -> Option<String> {
    if frame.namespace != "System"
        && !frame.namespace.starts_with("System.")
        && !frame.namespace.is_empty()
    {
        return None;
    }
    let type_name = frame.type_name.split(['<', '`']).next().unwrap_or_default();
    let method = frame.bare_method();
    let is_it = |(of, name, _): &&(&str, &str, &str)| {
        *of == type_name && (name.is_empty() || *name == method)
    };
    let (_, _, call) = INTERNALS.iter().find(is_it)?;
    Some(if call.ends_with('.') { format!("{call}{method}") } else { (*call).to_owned() })
}

/// Returns whether a method of the framework is known to stand for a public call of another name.
pub(crate) fn is_behind_public_call(frame: &Frame) -> bool {
    behind(frame).is_some()
}

/// Returns the name of a method as its callers write it: `Regex.IsMatch` for
/// `System.Text.RegularExpressions!System.Text.RegularExpressions.Regex.IsMatch(string)`.
pub(crate) fn public_call(frame: &Frame) -> String {
    if let Some(call) = behind(frame) {
        return call;
    }
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
