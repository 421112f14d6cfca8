//! What a runtime says about itself by events: its version, the process's command line,
//! the machine.

use nettrace_parser::Event;

/// What is known of the traced process beside what the stream's header says.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) command_line: Option<String>,
    pub(crate) os: Option<String>,
    pub(crate) architecture: Option<String>,
    /// Such as `10.0.12`.
    pub(crate) runtime: Option<String>,
    /// Whether the first three were reported by an event of their own, which counts more
    /// than others.
    has_process_info: bool,
    has_runtime: bool,
}

impl Session {
    /// Looks at an event; `is_informative` said that its type may say something.
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        match (event.provider(), event.id()) {
            ("Microsoft-DotNETCore-EventPipe", 1) => self.take_process(event.payload()),
            ("Microsoft-Windows-DotNETRuntime" | "Microsoft-Windows-DotNETRuntimeRundown", 187) => {
                self.take_runtime(event.payload());
            }
            _ => {}
        }
    }

    /// Adds what later events reported.
    pub(crate) fn join(&mut self, later: Session) {
        if later.has_process_info {
            self.command_line = later.command_line;
            self.os = later.os;
            self.architecture = later.architecture;
            self.has_process_info = true;
        } else if self.command_line.is_none() {
            self.command_line = later.command_line;
        }
        if later.has_runtime {
            self.runtime = later.runtime;
            self.has_runtime = true;
        }
    }

    /// Whether [`Session::take`] wants to see events of a type.
    pub(crate) fn is_informative(provider: &str, id: u32) -> bool {
        match id {
            1 => provider == "Microsoft-DotNETCore-EventPipe",
            187 => provider.starts_with("Microsoft-Windows-DotNETRuntime"),
            _ => false,
        }
    }

    /// ProcessInfo: command line, operating system, architecture.
    fn take_process(&mut self, payload: &[u8]) {
        let mut rest = payload;
        self.has_process_info = true;
        self.command_line = text(&mut rest).filter(|text| !text.is_empty());
        self.os = text(&mut rest).filter(|text| !text.is_empty());
        self.architecture = text(&mut rest).filter(|text| !text.is_empty());
    }

    /// RuntimeInformation: ten u16 (instance, sku, version of the base library, version
    /// of the runtime), startup flags and mode (5 bytes), command line, a guid, path of
    /// the runtime's library.
    fn take_runtime(&mut self, payload: &[u8]) {
        let number = |at: usize| {
            payload.get(at * 2..at * 2 + 2).and_then(|b| b.try_into().ok()).map(u16::from_le_bytes)
        };
        let (Some(major), Some(minor), Some(build)) = (number(2), number(3), number(4)) else {
            return;
        };
        let mut rest = payload.get(25..).unwrap_or_default();
        let command_line = text(&mut rest);
        let library = rest.get(16..).and_then(|mut rest| text(&mut rest));
        if self.command_line.is_none() {
            self.command_line = command_line.filter(|text| !text.is_empty());
        }
        self.has_runtime = true;
        // .NET Core 3 says 4.0.0 here, like the .NET Framework; the library's folder has
        // the version's name.
        self.runtime = match major {
            0..5 => library.as_deref().and_then(version_in_path),
            _ => Some(format!("{major}.{minor}.{build}")),
        };
    }
}

/// UTF-16 text up to its zero, which is taken too.
fn text(rest: &mut &[u8]) -> Option<String> {
    let units: Vec<u16> = rest
        .chunks_exact(2)
        .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
        .take_while(|unit| *unit != 0)
        .collect();
    *rest = rest.get(units.len() * 2 + 2..)?;
    Some(String::from_utf16_lossy(&units))
}

/// The folder of a path that is a version number:
/// `…/Microsoft.NETCore.App/3.1.23/libcoreclr.so`.
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

    #[test]
    fn a_cut_payload_tells_what_it_holds() {
        let mut session = Session::default();
        session.take_process(b"a\0b\0\0\0c\0");
        assert_eq!((session.command_line.as_deref(), session.os.as_deref()), (Some("ab"), None));
        session.take_runtime(&[1; 5]);
        assert_eq!(session.runtime, None);
    }
}
