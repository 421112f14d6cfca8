//! `nettrace open`: a trace's page in the cache, shown by the browser.

use super::Context;
use super::report::{PageTarget, write_page};
use crate::args::OpenArgs;
use crate::exit::Exit;
use crate::failure::{Failure, plain};
use crate::printable::printable;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(super) fn run(args: &OpenArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let trace = context.open(&args.input)?;
    let path = place(&args.input.file)?;
    let target = PageTarget { path: Some(path.clone()), is_forced: true };
    let exit = write_page(&args.input.file, &args.samples, trace, &target, context)?;
    if args.print_path {
        writeln!(context.out, "{}", path.display())?;
        context.out.finish()?;
        return Ok(exit);
    }
    match show(&path) {
        Ok(()) => context.messages.note(&format!("opened {}", printable(&path.display().to_string()))),
        Err(why) => {
            let path = printable(&path.display().to_string());
            context.messages.warning(&format!("no browser could be started ({why}); the page is {path}"));
        }
    }
    Ok(exit)
}

/// Where the page of a trace goes: the same name for the same path, another for another trace of that name.
fn place(trace: &Path) -> Result<PathBuf, Failure> {
    let Some(folder) = cache(|name| std::env::var_os(name)) else {
        return Err(Failure::Usage(
            "there is no cache folder: neither HOME nor XDG_CACHE_HOME is set; `nettrace report html FILE -o PAGE` \
             writes the page where you want it"
                .to_owned(),
        ));
    };
    private_folder(&folder).map_err(|error| Failure::Input {
        file: folder.display().to_string(),
        message: format!("cannot be made: {}", plain(&error)),
    })?;
    let whole = trace.canonicalize().unwrap_or_else(|_| trace.to_owned());
    let mut hasher = DefaultHasher::new();
    whole.hash(&mut hasher);
    let mut name = trace.file_stem().map_or_else(OsString::new, OsString::from);
    name.push(format!("-{:08x}.html", hasher.finish() & 0xffff_ffff));
    Ok(folder.join(name))
}

/// The folder for pages, as the system's conventions have it.
fn cache(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || folder("HOME");
    let caches = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library").join("Caches"))
    } else {
        // The convention asks for a whole path; another one is to be ignored.
        folder("XDG_CACHE_HOME").filter(|path| path.is_absolute()).or_else(|| Some(home()?.join(".cache")))
    };
    Some(caches?.join("nettrace"))
}

/// Traces hold what programs write: command lines, messages, addresses. Nobody else is to read them.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Asks the system to show a file.
fn show(page: &Path) -> Result<(), String> {
    let (program, words): (&str, &[&str]) = if cfg!(windows) {
        // The first word in quotes would be the window's title.
        ("cmd", &["/C", "start", ""])
    } else if cfg!(target_os = "macos") {
        ("open", &[])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(words).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} ended with {status}")),
        Err(error) => Err(format!("{program}: {}", plain(&error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
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
}
