//! The platforms for which there are packages.

use std::env;
use std::path::Path;
use std::process::Command;

/// A target of Rust, and what others call it.
#[derive(Debug)]
pub(super) struct Platform {
    pub(super) target: &'static str,
    /// Runtime identifiers of .NET. A static program serves systems with glibc and with musl.
    pub(super) rids: &'static [&'static str],
    /// Platform tags of Python's wheels.
    pub(super) wheel_tags: &'static [&'static str],
}

const PLATFORMS: [Platform; 7] = [
    Platform {
        target: "x86_64-unknown-linux-gnu",
        rids: &["linux-x64", "linux-musl-x64"],
        wheel_tags: &["manylinux_2_17_x86_64", "musllinux_1_1_x86_64"],
    },
    Platform {
        target: "aarch64-unknown-linux-gnu",
        rids: &["linux-arm64", "linux-musl-arm64"],
        wheel_tags: &["manylinux_2_17_aarch64", "musllinux_1_1_aarch64"],
    },
    Platform { target: "x86_64-pc-windows-msvc", rids: &["win-x64"], wheel_tags: &["win_amd64"] },
    // Not in releases: it can be linked on Linux.
    Platform { target: "x86_64-pc-windows-gnu", rids: &["win-x64"], wheel_tags: &["win_amd64"] },
    Platform {
        target: "aarch64-pc-windows-msvc",
        rids: &["win-arm64"],
        wheel_tags: &["win_arm64"],
    },
    Platform {
        target: "x86_64-apple-darwin",
        rids: &["osx-x64"],
        wheel_tags: &["macosx_10_12_x86_64"],
    },
    Platform {
        target: "aarch64-apple-darwin",
        rids: &["osx-arm64"],
        wheel_tags: &["macosx_11_0_arm64"],
    },
];

impl Platform {
    /// Returns the platform of a target.
    pub(super) fn find(target: &str) -> Option<&'static Platform> {
        PLATFORMS.iter().find(|platform| platform.target == target)
    }

    /// Returns the platforms whose standard library is installed and for which a linker is known:
    /// the machine's own, and those with a variable such as
    /// `CARGO_TARGET_AARCH64_APPLE_DARWIN_LINKER`.
    pub(super) fn linked_here() -> Vec<&'static Platform> {
        let host = host();
        let links = |platform: &&Platform| {
            let library = printed(&["--print", "target-libdir", "--target", platform.target]);
            Path::new(&library).is_dir()
                && (platform.target == host || env::var_os(platform.variable("LINKER")).is_some())
        };
        PLATFORMS.iter().filter(links).collect()
    }

    /// Returns the name of the variable by which cargo is told a setting of the target.
    pub(super) fn variable(&self, setting: &str) -> String {
        format!("CARGO_TARGET_{}_{setting}", self.target.to_uppercase().replace('-', "_"))
    }

    pub(super) fn is_windows(&self) -> bool {
        self.target.contains("-windows-")
    }

    pub(super) fn is_linux(&self) -> bool {
        self.target.contains("-linux-")
    }

    /// Returns the name of the command's file.
    pub(super) fn file_name(&self) -> &'static str {
        if self.is_windows() { "nettrace.exe" } else { "nettrace" }
    }
}

/// Returns the target of this machine.
pub(super) fn host() -> String {
    let version = printed(&["-vV"]);
    version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned()
}

fn printed(arguments: &[&str]) -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(arguments).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
