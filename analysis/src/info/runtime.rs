//! Reads what a runtime tells in its events: its version, the command line of the process, the
//! system.

use nettrace_parser::Event;
use nettrace_parser::view::{ProcessInfo, RuntimeInformation, View};

/// Information about the traced process that the stream's header does not contain.
#[derive(Debug, Default)]
pub(super) struct RuntimeFacts {
    pub(super) command_line: Option<String>,
    pub(super) os: Option<String>,
    pub(super) architecture: Option<String>,
    /// Version of the .NET runtime, such as `10.0.12`.
    pub(super) version: Option<String>,
    /// Whether `command_line`, `os` and `architecture` are from [`ProcessInfo`], an event that is
    /// preferred to others.
    has_process_info: bool,
    has_version: bool,
}

impl RuntimeFacts {
    /// Returns whether [`RuntimeFacts::take`] needs events of this type.
    pub(super) fn is_informative(provider: &str, id: u32) -> bool {
        match id {
            1 => provider == "Microsoft-DotNETCore-EventPipe",
            187 => provider.starts_with("Microsoft-Windows-DotNETRuntime"),
            _ => false,
        }
    }

    /// Takes the information from an event.
    pub(super) fn take(&mut self, event: &Event<'_>) {
        if let Some(process) = ProcessInfo::from_event(event) {
            self.has_process_info = true;
            self.command_line = non_empty(process.command_line.to_string());
            self.os = process.os.and_then(|os| non_empty(os.to_string()));
            self.architecture = process.architecture.and_then(|text| non_empty(text.to_string()));
        } else if let Some(runtime) = RuntimeInformation::from_event(event) {
            if self.command_line.is_none() {
                self.command_line = non_empty(runtime.command_line.to_string());
            }
            let [major, minor, build] = runtime.version;
            self.has_version = true;
            self.version = match major {
                // .NET Core 3 reports 4.0.0, like the .NET Framework, so the version is taken from
                // the folder of the runtime's library.
                0..5 => version_in_path(&runtime.runtime_path.to_string()),
                _ => Some(format!("{major}.{minor}.{build}")),
            };
        }
    }

    /// Adds the information from later events.
    pub(super) fn join(&mut self, later: RuntimeFacts) {
        if later.has_process_info {
            self.command_line = later.command_line;
            self.os = later.os;
            self.architecture = later.architecture;
            self.has_process_info = true;
        } else if self.command_line.is_none() {
            self.command_line = later.command_line;
        }
        if later.has_version {
            self.version = later.version;
            self.has_version = true;
        }
    }
}

fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Returns the version number in a path: the name of the innermost folder that is one, such as
/// `3.1.23` in `…/Microsoft.NETCore.App/3.1.23/libcoreclr.so`.
fn version_in_path(path: &str) -> Option<String> {
    let is_version = |part: &&str| {
        part.contains('.') && part.starts_with(|c: char| c.is_ascii_digit()) && !part.contains(' ')
    };
    path.split(['/', '\\']).rev().skip(1).find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_core_3_runtime_is_its_librarys_folder() {
        let version = version_in_path("/opt/shared/Microsoft.NETCore.App/3.1.23/libcoreclr.so");
        assert_eq!(version.as_deref(), Some("3.1.23"));
        let version =
            version_in_path(r"C:\dotnet\shared\Microsoft.NETCore.App\3.0.0-preview\coreclr.dll");
        assert_eq!(version.as_deref(), Some("3.0.0-preview"));
        assert_eq!(version_in_path("libcoreclr.so"), None);
    }
}
