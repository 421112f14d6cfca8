//! Tells the program's own code from the framework's and from packages.

use crate::model::{Folding, Frame, FrameHandle, Module, Pattern, Resolved, is_framework_name};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Microsoft's programs, whose own modules are named as the framework's are.
const COMPILERS: [&str; 4] = ["csc", "vbc", "VBCSCompiler", "pwsh"];

/// The program's own code: what `--my-code` selects, else the main module and the modules of its
/// family, such as `Shop.Data` beside `Shop.Web`. A program of Microsoft owns all Microsoft modules
/// in its folder, too.
#[derive(Debug, Default)]
pub(super) struct OwnModules {
    chosen: Option<Pattern>,
    modules: BTreeSet<String>,
    /// Whether the main module is known. If not, all code but the framework's is own.
    has_main: bool,
}

impl OwnModules {
    pub(super) fn new(resolved: &Resolved<'_>) -> OwnModules {
        let own = OwnModules::default();
        if let Some(chosen) = resolved.my_code() {
            return OwnModules { chosen: Some(chosen.clone()), ..own };
        }
        let rows = resolved.profile().rows();
        let roots = rows.iter().filter_map(|(key, _)| {
            let root = resolved.frames(key.stack).last()?;
            let root = resolved.frame(*root)?;
            root.is_entry_point().then_some(root)
        });
        let mut mains: BTreeMap<&str, u64> = BTreeMap::new();
        for root in roots.filter(|root| !root.module.is_empty()) {
            let count = mains.entry(&root.module).or_default();
            *count = count.saturating_add(1);
        }
        let Some((main, _)) = mains.into_iter().max_by_key(|(_, count)| *count) else {
            return own;
        };
        let family = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
        let folder =
            |path: &str| path.rfind(['/', '\\']).and_then(|at| path.get(..at)).map(str::to_owned);
        let processes = resolved.model().processes();
        let all: Vec<&Module> = processes.flat_map(|(_, process)| process.modules()).collect();
        let main_folder = all
            .iter()
            .find(|module| module.name == main)
            .and_then(|module| folder(&module.il_path));
        // The folder of a self-contained program has the framework in it, too, so it tells nothing.
        let is_selfcontained = all.iter().any(|module| {
            module.name == "System.Private.CoreLib" && folder(&module.il_path) == main_folder
        });
        let mut modules = BTreeSet::from([main.to_owned()]);
        for module in &all {
            let is_family =
                family(&module.name) == family(main) && !is_framework_name(&module.name);
            let is_microsofts = module.name.starts_with("Microsoft.")
                && main_folder.is_some()
                && folder(&module.il_path) == main_folder
                && !is_selfcontained
                && (main.starts_with("Microsoft.") || COMPILERS.contains(&main));
            if is_family || is_microsofts {
                modules.insert(module.name.clone());
            }
        }
        OwnModules { modules, has_main: true, ..own }
    }

    /// Returns whether a frame is the program's own code.
    pub(super) fn has(&self, resolved: &Resolved<'_>, frame: FrameHandle) -> bool {
        let Some(frame) = resolved.frame(frame).filter(|frame| frame.is_named()) else {
            return false;
        };
        match &self.chosen {
            Some(chosen) => chosen.is_match(&frame.text),
            None if self.has_main => self.modules.contains(&frame.module),
            None => is_package(frame),
        }
    }

    /// Returns the innermost own frame of a stack in a report, and its index. If the stack has
    /// none, a compiled handler of an endpoint stands in, or else a frame of a package.
    pub(super) fn frame<'f>(&self, frames: &'f [Arc<Frame>]) -> Option<(usize, &'f Arc<Frame>)> {
        let find = |is: &dyn Fn(&Frame) -> bool| frames.iter().enumerate().find(|(_, it)| is(it));
        let handler = || frames.iter().enumerate().rfind(|(_, frame)| frame.is_handler);
        let is_of_module = |frame: &Frame| self.modules.contains(&frame.module);
        match &self.chosen {
            Some(chosen) => find(&|frame| chosen.is_match(&frame.text)),
            None if self.has_main => {
                find(&is_of_module).or_else(handler).or_else(|| find(&Folding::is_own))
            }
            None => find(&Folding::is_own).or_else(handler),
        }
    }
}

/// Returns whether a frame has a certain name and is not the framework's.
pub(super) fn is_package(frame: &Frame) -> bool {
    frame.is_named() && !frame.is_guessed && Folding::is_own(frame)
}
