//! `nettrace open`: writes a trace's page to the cache and shows it in the browser.

use super::report::{PageTarget, write_page};
use crate::args::OpenArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, plain};
use crate::printable::printable;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(super) fn run(args: &OpenArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let path = place(&args.input.file)?;
    let target = PageTarget { path: Some(path.clone()), is_forced: true };
    let exit = write_page(&args.input, &args.samples, &target, context)?;
    if args.print_path {
        writeln!(context.out, "{}", path.display())?;
        context.out.finish()?;
        return Ok(exit);
    }
    match show(&path) {
        Ok(()) => {
            context.messages.note(&format!("opened {}", printable(&path.display().to_string())))
        }
        Err(why) => {
            writeln!(context.out, "{}", path.display())?;
            context.out.finish()?;
            let text = format!("no browser could be started ({why}); the page's path is on stdout");
            context.messages.warning(&text);
        }
    }
    Ok(exit)
}

/// Returns the path of a trace's page. Its name has a hash of the trace's path, so that traces of
/// one name do not share a page.
fn place(trace: &Path) -> Result<PathBuf, Failure> {
    let Some(folder) = cache(|name| std::env::var_os(name)) else {
        return Err(Failure::usage(
            "there is no cache folder: neither HOME nor XDG_CACHE_HOME is set; `nettrace report html FILE -o PAGE` \
             writes the page where you want it",
        ));
    };
    private_folder(&folder).map_err(|error| {
        Failure::input(folder.display().to_string(), format!("cannot be made: {}", plain(&error)))
    })?;
    let whole = trace.canonicalize().unwrap_or_else(|_| trace.to_owned());
    let mut hasher = DefaultHasher::new();
    whole.hash(&mut hasher);
    let mut name = trace.file_stem().map_or_else(OsString::new, OsString::from);
    name.push(format!("-{:08x}.html", hasher.finish() & 0xffff_ffff));
    Ok(folder.join(name))
}

/// Returns the folder for pages by the conventions of the system.
fn cache(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || folder("HOME");
    let caches = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library").join("Caches"))
    } else {
        // The XDG specification demands that relative paths are ignored.
        folder("XDG_CACHE_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| Some(home()?.join(".cache")))
    };
    Some(caches?.join("nettrace"))
}

/// Creates a folder that no other user may read, because pages have command lines and messages.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Maximum time after its start within which a program counts as failed if it ends with an error.
const FAILS_WITHIN: Duration = Duration::from_millis(1500);

/// Program that shows a page, with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Opener {
    program: OsString,
    words: Vec<OsString>,
}

/// Opens a page with the first program that starts.
fn show(page: &Path) -> Result<(), String> {
    let openers = openers(page, |name| std::env::var_os(name));
    if openers.is_empty() {
        return Err("there is neither a display nor BROWSER".to_owned());
    }
    let mut refused = Vec::new();
    for opener in &openers {
        match start(opener) {
            Ok(()) => return Ok(()),
            Err(why) => refused.push(why),
        }
    }
    Err(refused.join("; "))
}

/// Returns the programs that may show a page: programs of `BROWSER` (separated by `:`, with `%s`
/// for the page), then the system's.
fn openers(page: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Vec<Opener> {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let browsers = variable("BROWSER").map(|value| value.to_string_lossy().into_owned());
    let separator = if cfg!(windows) { ';' } else { ':' };
    let named = commands(browsers.as_deref().unwrap_or_default(), separator);
    let mut openers: Vec<Opener> =
        named.iter().filter_map(|words| named_opener(words, page)).collect();
    let of_system = |program: &str, words: &[&str]| {
        let words = words.iter().map(OsString::from).chain([page.as_os_str().to_owned()]);
        Opener { program: program.into(), words: words.collect() }
    };
    if cfg!(windows) {
        // `start` takes its first quoted argument as the window's title.
        openers.push(of_system("cmd", &["/C", "start", ""]));
    } else if cfg!(target_os = "macos") {
        openers.push(of_system("open", &[]));
    } else if is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") {
        openers.push(of_system("xdg-open", &[]));
    } else if is_set("WSL_DISTRO_NAME") {
        openers.push(of_system("wslview", &[]));
    }
    openers
}

/// Splits `BROWSER` into its commands. A colon before `//` separates no commands, as in `chromium
/// --app=file://%s:firefox`.
fn commands(list: &str, separator: char) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for part in list.split(separator) {
        match commands.last_mut() {
            Some(command) if separator == ':' && part.starts_with("//") => {
                command.push(separator);
                command.push_str(part);
            }
            _ => commands.push(part.to_owned()),
        }
    }
    commands
}

fn named_opener(words: &str, page: &Path) -> Option<Opener> {
    let (mut words, path) = (words.split_whitespace(), page.to_string_lossy());
    let program = OsString::from(words.next()?);
    let mut has_page = false;
    let mut given: Vec<OsString> = Vec::new();
    for word in words {
        has_page |= word.contains("%s");
        given.push(word.replace("%s", &path).into());
    }
    if !has_page {
        given.push(page.as_os_str().to_owned());
    }
    Some(Opener { program, words: given })
}

/// Starts a program, and waits for [`FAILS_WITHIN`] to see whether it fails. A browser may run for
/// as long as the user reads the page.
fn start(opener: &Opener) -> Result<(), String> {
    let name = opener.program.to_string_lossy();
    let mut command = Command::new(&opener.program);
    command.args(&opener.words);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A process group of its own, because Ctrl-C in this terminal is not for the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|error| format!("{name}: {}", plain(&error)))?;
    let begun = Instant::now();
    while begun.elapsed() < FAILS_WITHIN {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("{name} ended with {status}")),
            Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            Err(error) => return Err(format!("{name}: {}", plain(&error))),
        }
    }
    Ok(())
}

#[cfg(all(test, unix, not(target_os = "macos")))]
mod tests {
    use super::*;

    #[test]
    fn pages_go_to_the_users_cache() {
        let of = |home: &'static str, xdg: &'static str| {
            cache(move |name| match name {
                "HOME" => Some(home.into()),
                "XDG_CACHE_HOME" => Some(xdg.into()),
                _ => None,
            })
        };
        assert_eq!(of("/home/a", ""), Some("/home/a/.cache/nettrace".into()));
        assert_eq!(of("/home/a", "/c"), Some("/c/nettrace".into()));
        assert_eq!(of("/home/a", "c"), Some("/home/a/.cache/nettrace".into()), "not a whole path");
        assert_eq!(of("", ""), None);
    }

    #[test]
    fn browser_names_programs_and_xdg_open_needs_a_display() {
        let of = |browser: &'static str, display: &'static str| {
            let found = openers(Path::new("/p.html"), move |name| match name {
                "BROWSER" => Some(browser.into()),
                "DISPLAY" => Some(display.into()),
                _ => None,
            });
            let line = |opener: &Opener| {
                let words = opener.words.iter().map(|word| word.to_string_lossy().into_owned());
                [opener.program.to_string_lossy().into_owned()]
                    .into_iter()
                    .chain(words)
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            found.iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(of("", ":0"), ["xdg-open /p.html"]);
        assert_eq!(of("firefox -P x", ""), ["firefox -P x /p.html"]);
        assert_eq!(
            of("a --app=file://%s:b", ":0"),
            ["a --app=file:///p.html", "b /p.html", "xdg-open /p.html"]
        );
        assert_eq!(of("", ""), [""; 0]);
    }
}
