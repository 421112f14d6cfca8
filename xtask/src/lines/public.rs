//! Finds the public items of a crate, which are those that can be reached from its root.

use super::source::{Tree, folder_of_modules, is_for_tests};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::{Attribute, ImplItem, Item, Meta, Type, UseTree, Visibility};

/// Returns each public item once, as a path. This is the path of its definition, which need not be
/// public itself. For an item of another crate or of a macro, it is the path of the `pub use`.
pub(super) fn items(tree: &Tree) -> BTreeSet<String> {
    let Some((krate, mut found)) = reached(tree) else { return BTreeSet::new() };
    for (definition, Definition { path, exported, .. }) in krate.definitions.iter().enumerate() {
        if *exported || found.definitions.contains(&definition) {
            found.paths.insert(path.clone());
        }
    }
    for (number, module) in krate.modules.iter().enumerate() {
        for (self_type, members) in &module.members {
            for definition in krate.resolve(number, self_type, &mut Vec::new()) {
                if found.definitions.contains(&definition) {
                    let path = &krate.definitions[definition].path;
                    found.paths.extend(members.iter().map(|member| format!("{path}::{member}")));
                }
            }
        }
    }
    found.paths
}

/// Returns the public items that have several paths, by which programs can name them.
#[cfg(test)]
pub(super) fn named_twice(tree: &Tree) -> Vec<BTreeSet<String>> {
    let names = reached(tree).map_or(BTreeMap::new(), |(_, found)| found.names);
    names.into_values().filter(|paths| paths.len() > 1).collect()
}

/// Reads a library, and finds what can be reached from its root; `None` for a program.
fn reached(tree: &Tree) -> Option<(Crate<'_>, Found)> {
    let mut krate = Crate { tree, modules: Vec::new(), definitions: Vec::new() };
    let root = Path::new("src/lib.rs");
    let file: syn::File = syn::parse2(tree.0.get(root)?.tokens.clone()).expect("a file has items");
    krate.module(String::new(), 0, file.items, &folder_of_modules(root));
    krate.find_globs();
    let mut found = Found::default();
    krate.reach(0, &mut found);
    Some((krate, found))
}

struct Crate<'a> {
    tree: &'a Tree,
    /// The modules of the crate, the root first.
    modules: Vec<Module>,
    definitions: Vec<Definition>,
}

#[derive(Default)]
struct Module {
    path: String,
    /// Index of the module that contains this one; the root has its own index.
    parent: usize,
    /// Indices of definitions by name. A name may stand for a type, a value and a macro at the same
    /// time.
    names: BTreeMap<String, Vec<usize>>,
    uses: Vec<Use>,
    /// Indices of the modules from which all names are imported by `*`.
    globs: BTreeSet<usize>,
    /// Paths of the types that have inherent impls here, each with the public functions and
    /// constants of these impls.
    members: Vec<(Vec<String>, Vec<String>)>,
}

struct Definition {
    path: String,
    public: bool,
    /// Whether the item is a macro that is exported at the root of the crate.
    exported: bool,
    module: Option<usize>,
}

struct Use {
    path: Vec<String>,
    /// Name under which the item is imported; `None` for `*`.
    name: Option<String>,
    public: bool,
}

#[derive(Default)]
struct Found {
    modules: BTreeSet<usize>,
    definitions: BTreeSet<usize>,
    paths: BTreeSet<String>,
    /// Paths by which definitions can be named.
    names: BTreeMap<usize, BTreeSet<String>>,
}

impl Crate<'_> {
    /// Adds a module, and returns its index.
    fn module(&mut self, path: String, parent: usize, items: Vec<Item>, folder: &Path) -> usize {
        let number = self.modules.len();
        self.modules.push(Module { path, parent, ..Module::default() });
        for item in items {
            self.item(number, item, folder);
        }
        number
    }

    fn item(&mut self, module: usize, item: Item, folder: &Path) {
        let (attributes, visibility, name) = match &item {
            Item::Const(item) => (&item.attrs, &item.vis, &item.ident),
            Item::Enum(item) => (&item.attrs, &item.vis, &item.ident),
            Item::Fn(item) => (&item.attrs, &item.vis, &item.sig.ident),
            Item::Static(item) => (&item.attrs, &item.vis, &item.ident),
            Item::Struct(item) => (&item.attrs, &item.vis, &item.ident),
            Item::Trait(item) => (&item.attrs, &item.vis, &item.ident),
            Item::Type(item) => (&item.attrs, &item.vis, &item.ident),
            Item::Union(item) => (&item.attrs, &item.vis, &item.ident),
            Item::Mod(item) => (&item.attrs, &item.vis, &item.ident),
            Item::Macro(item) => match &item.ident {
                Some(name) => (&item.attrs, &Visibility::Inherited, name),
                None => return,
            },
            Item::Use(item) if !are_for_tests(&item.attrs) => {
                let public = is_public(&item.vis);
                return imports(&item.tree, &[], public, &mut self.modules[module].uses);
            }
            Item::Impl(item) if !are_for_tests(&item.attrs) && item.trait_.is_none() => {
                if let Type::Path(self_type) = &*item.self_ty {
                    let self_type = self_type.path.segments.iter();
                    let self_type = self_type.map(|segment| segment.ident.to_string()).collect();
                    self.modules[module].members.push((self_type, members(&item.items)));
                }
                return;
            }
            _ => return,
        };
        if are_for_tests(attributes) {
            return;
        }
        let path = format!("{}{name}", self.modules[module].path);
        let public = is_public(visibility);
        let exported = attributes.iter().any(|it| it.path().is_ident("macro_export"));
        let name = name.to_string();
        let inside = match item {
            Item::Mod(item) => {
                let folder = folder.join(&name);
                let content = match item.content {
                    Some((_, items)) => Some((items, folder)),
                    None => self.file(&folder),
                };
                // A file that is not there is generated.
                content
                    .map(|(items, folder)| self.module(format!("{path}::"), module, items, &folder))
            }
            _ => None,
        };
        self.definitions.push(Definition { path, public, exported, module: inside });
        let definition = self.definitions.len() - 1;
        self.modules[module].names.entry(name).or_default().push(definition);
    }

    fn file(&self, module: &Path) -> Option<(Vec<Item>, PathBuf)> {
        [module.with_extension("rs"), module.join("mod.rs")].into_iter().find_map(|path| {
            let tokens = self.tree.0.get(&path)?.tokens.clone();
            let file: syn::File = syn::parse2(tokens).expect("a file has items");
            Some((file.items, folder_of_modules(&path)))
        })
    }

    /// Resolves the imports by `*`. This is repeated until nothing changes, because one import may
    /// depend on another.
    fn find_globs(&mut self) {
        loop {
            let mut is_new = false;
            for module in 0..self.modules.len() {
                let globs = self.modules[module].uses.iter().filter(|used| used.name.is_none());
                let found = globs.flat_map(|used| self.modules_at(module, &used.path));
                let found: Vec<usize> = found.collect();
                for glob in found {
                    is_new |= self.modules[module].globs.insert(glob);
                }
            }
            if !is_new {
                return;
            }
        }
    }

    fn modules_at(&self, module: usize, path: &[String]) -> Vec<usize> {
        match self.start(module, path) {
            Some((start, [])) => vec![start],
            _ => {
                let found = self.resolve(module, path, &mut Vec::new());
                found.iter().filter_map(|it| self.definitions[*it].module).collect()
            }
        }
    }

    /// Notes the public items of a module that can be reached.
    fn reach(&self, module: usize, found: &mut Found) {
        if !found.modules.insert(module) {
            return;
        }
        let Module { path, names, uses, .. } = &self.modules[module];
        for (name, definitions) in names {
            definitions.iter().for_each(|it| self.reach_definition(*it, path, name, found));
        }
        for used in uses.iter().filter(|used| used.public) {
            let definitions = self.resolve(module, &used.path, &mut Vec::new());
            match &used.name {
                Some(name) if definitions.is_empty() => {
                    found.paths.insert(format!("{path}{name}"));
                }
                Some(name) => {
                    definitions.iter().for_each(|it| self.reach_definition(*it, path, name, found));
                }
                None => {
                    let modules = self.modules_at(module, &used.path);
                    modules.iter().for_each(|module| self.reach(*module, found));
                }
            }
        }
    }

    /// Notes a definition, which has a name in the module of a path.
    fn reach_definition(&self, definition: usize, path: &str, name: &str, found: &mut Found) {
        let Definition { public, module, .. } = self.definitions[definition];
        if public {
            found.names.entry(definition).or_default().insert(format!("{path}{name}"));
        }
        if public && found.definitions.insert(definition) {
            module.into_iter().for_each(|module| self.reach(module, found));
        }
    }

    /// Returns the definitions that a path names in a module; there are none if they are in another
    /// crate or in a macro. `asked` has the names that are being looked up, because modules may
    /// import from each other.
    fn resolve(
        &self,
        module: usize,
        path: &[String],
        asked: &mut Vec<(usize, String)>,
    ) -> Vec<usize> {
        if let Some((start, rest)) = self.start(module, path) {
            return self.resolve(start, rest, asked);
        }
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        let definitions = self.look_up(module, first, asked);
        if rest.is_empty() {
            return definitions;
        }
        let modules = definitions.iter().filter_map(|it| self.definitions[*it].module);
        modules.flat_map(|module| self.resolve(module, rest, asked)).collect()
    }

    /// Returns the module that the beginning of a path (`crate`, `self` or `super`) stands for, and
    /// the rest of the path. Returns `None` if the path begins with a name.
    fn start<'p>(&self, module: usize, path: &'p [String]) -> Option<(usize, &'p [String])> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => 0,
            "self" => module,
            "super" => self.modules[module].parent,
            _ => return None,
        };
        self.start(start, rest).or(Some((start, rest)))
    }

    fn look_up(&self, module: usize, name: &str, asked: &mut Vec<(usize, String)>) -> Vec<usize> {
        let question = (module, name.to_owned());
        if asked.contains(&question) {
            return Vec::new();
        }
        asked.push(question);
        let mut found = Vec::new();
        let mut modules = vec![module];
        let mut next = 0;
        while let Some(&module) = modules.get(next) {
            let Module { names, uses, globs, .. } = &self.modules[module];
            found.extend(names.get(name).into_iter().flatten());
            for used in uses.iter().filter(|used| used.name.as_deref() == Some(name)) {
                found.extend(self.resolve(module, &used.path, asked));
            }
            let globs = globs.iter().filter(|glob| !modules.contains(glob)).copied();
            modules.extend(globs.collect::<Vec<_>>());
            next += 1;
        }
        asked.pop();
        found
    }
}

/// Adds each import of a `use` to `uses`, with its path and its name.
fn imports(tree: &UseTree, before: &[String], public: bool, uses: &mut Vec<Use>) {
    let with = |name: &syn::Ident| -> Vec<String> {
        before.iter().cloned().chain([name.to_string()]).collect()
    };
    match tree {
        UseTree::Path(path) => imports(&path.tree, &with(&path.ident), public, uses),
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| imports(tree, before, public, uses));
        }
        UseTree::Name(name) if name.ident == "self" => {
            uses.push(Use { path: before.to_vec(), name: before.last().cloned(), public });
        }
        UseTree::Name(name) => {
            uses.push(Use { path: with(&name.ident), name: Some(name.ident.to_string()), public });
        }
        UseTree::Rename(name) => {
            uses.push(Use { path: with(&name.ident), name: Some(name.rename.to_string()), public });
        }
        UseTree::Glob(_) => uses.push(Use { path: before.to_vec(), name: None, public }),
    }
}

/// Returns the public functions and constants of an inherent impl.
fn members(items: &[ImplItem]) -> Vec<String> {
    let mut names = Vec::new();
    for item in items {
        let (attributes, visibility, name) = match item {
            ImplItem::Fn(item) => (&item.attrs, &item.vis, &item.sig.ident),
            ImplItem::Const(item) => (&item.attrs, &item.vis, &item.ident),
            _ => continue,
        };
        if is_public(visibility) && !are_for_tests(attributes) {
            names.push(name.to_string());
        }
    }
    names
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn are_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => is_for_tests(&list.tokens),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items_of(files: &[(&str, &str)]) -> Vec<String> {
        items(&Tree::from_texts(files)).into_iter().collect()
    }

    #[test]
    fn a_public_item_of_a_private_module_counts_once_it_is_exported() {
        let lib = "mod a; mod c; pub use a::{A, b as d}; pub mod e { pub use crate::a::A as F; }";
        let a = "pub struct A; pub fn b() {} pub fn hidden() {} impl A { pub fn new() {} fn own() {} pub const N: u8 = 1; }";
        let found =
            items_of(&[("src/lib.rs", lib), ("src/a.rs", a), ("src/c.rs", "pub fn unused() {}")]);
        assert_eq!(found, ["a::A", "a::A::N", "a::A::new", "a::b", "e"]);
    }

    #[test]
    fn an_item_that_two_public_modules_have_is_named_twice() {
        let lib = "mod a; pub use a::{A, B}; pub mod e { pub use crate::a::A as F; use crate::B; pub struct G; }";
        let tree =
            Tree::from_texts(&[("src/lib.rs", lib), ("src/a.rs", "pub struct A; pub struct B;")]);
        assert_eq!(named_twice(&tree), [BTreeSet::from(["A", "e::F"].map(str::to_owned))]);
    }

    #[test]
    fn an_impl_is_found_wherever_it_stands() {
        let lib = "mod a; mod b; pub use a::*;";
        let b = "use super::a::A as B; impl<'a> B<'a> { pub fn f(&self) {} } impl Clone for B { fn clone() {} }";
        let found = items_of(&[
            ("src/lib.rs", lib),
            ("src/a/mod.rs", "pub struct A<'a>;"),
            ("src/b.rs", b),
        ]);
        assert_eq!(found, ["a::A", "a::A::f"]);
    }

    #[test]
    fn globs_and_modules_may_lead_in_circles() {
        let lib = "pub mod a { pub use super::*; pub use super::b::*; } mod b { pub use crate::a::*; pub fn f() {} pub mod c { pub use super::super::d::*; } } mod d { pub fn g() {} }";
        assert_eq!(items_of(&[("src/lib.rs", lib)]), ["a", "b::c", "b::f", "d::g"]);
    }

    #[test]
    fn what_is_defined_elsewhere_counts_by_its_name() {
        let lib = "pub use other::{Guid, x::Y as Z}; mod h; pub use h::Handle;";
        assert_eq!(
            items_of(&[("src/lib.rs", lib), ("src/h.rs", "make! { Handle; }")]),
            ["Guid", "Handle", "Z"]
        );
    }

    #[test]
    fn exported_macros_count_and_what_is_for_tests_does_not() {
        let lib =
            "mod m { #[macro_export] macro_rules! a { () => {} } macro_rules! b { () => {} } }
            #[cfg(any(test, fuzzing))] pub mod fuzzing { pub fn f() {} }
            #[cfg(feature = \"x\")] pub fn x() {} pub(crate) fn y() {}";
        assert_eq!(items_of(&[("src/lib.rs", lib)]), ["m::a", "x"]);
    }

    #[test]
    fn a_program_has_none() {
        assert_eq!(items_of(&[("src/main.rs", "pub fn main() {}")]), Vec::<String>::new());
    }
}
