//! Groups of roots: nodes in square brackets above the objects, each of which is a kind of root.

use super::super::kinds::RootKind;

/// The topmost group.
pub(super) const TOP: &str = "[.NET Roots]";
/// The group of roots that are neither static nor local variables.
pub(super) const OTHER_ROOTS: &str = "[other roots]";
const STATIC_VARIABLE: &str = "[static var ";
const THREAD_STATIC_VARIABLE: &str = "[thread static var ";

/// Returns whether a node is a group rather than an object, given its type's name, its size and its
/// address. `[]c` is a type of objects, and a wrapper of a COM object has an address.
pub(super) fn is_group(name: &str, bytes: i32, address: u64) -> bool {
    name.starts_with('[') && !name.starts_with("[]") && bytes == 0 && address == 0
}

/// Returns the kind of roots that a group stands for; `None` if its name tells none.
pub(super) fn kind_of(name: &str) -> Option<RootKind> {
    let inside = name.trim_matches(['[', ']']).replace(' ', "").to_ascii_lowercase();
    let kind = inside.strip_suffix('s').unwrap_or(&inside);
    Some(match kind {
        "staticvar" => RootKind::Static,
        "threadstaticvar" => RootKind::ThreadStatic,
        "localvar" | "pinnedlocalvar" => RootKind::Stack,
        "finalizerhandle" | "finalizerqueue" => RootKind::FinalizerQueue,
        "pinninghandle" | "pinnedhandle" | "asyncpinnedhandle" => RootKind::PinnedHandle,
        "stronghandle" => RootKind::StrongHandle,
        "sizedrefhandle" => RootKind::SizedHandle,
        "dependenthandle" => RootKind::DependentHandle,
        "com/winrtobject" | "refcounthandle" | "refcountedhandle" => RootKind::Com,
        "oldergeneration" => RootKind::OlderGeneration,
        "otherroot" | "otherhandle" => RootKind::Other,
        _ => return None,
    })
}

/// Returns the name of the group for a kind of roots, as dotnet-gcdump or PerfView writes it.
pub(super) fn name_of(kind: RootKind) -> &'static str {
    match kind {
        RootKind::Static => "[static vars]",
        RootKind::ThreadStatic => "[thread static vars]",
        RootKind::Stack => "[local vars]",
        RootKind::FinalizerQueue => "[finalizer Handles]",
        RootKind::PinnedHandle => "[pinning Handles]",
        RootKind::StrongHandle => "[strong Handles]",
        RootKind::SizedHandle => "[SizedRefHandle]",
        RootKind::DependentHandle => "[Dependent Handles]",
        RootKind::Com => "[COM/WinRT Objects]",
        RootKind::OlderGeneration => "[older generations]",
        RootKind::Other => "[other Handles]",
    }
}

/// Returns whether the group of a kind is directly below the topmost group, and not below
/// [`OTHER_ROOTS`].
pub(super) fn is_high(kind: RootKind) -> bool {
    matches!(kind, RootKind::Static | RootKind::ThreadStatic | RootKind::Stack | RootKind::Com)
}

/// Returns the text for a static variable in the name of its group; `None` for another group.
pub(super) fn variable(name: &str) -> Option<&str> {
    let inside = [STATIC_VARIABLE, THREAD_STATIC_VARIABLE]
        .into_iter()
        .find_map(|front| name.strip_prefix(front))?;
    Some(inside.strip_suffix(']').unwrap_or(inside))
}

/// Returns the name of the group of a static variable, given the type of its object.
pub(super) fn name_of_variable(kind: RootKind, type_name: &str, field: &str) -> String {
    let front = match kind {
        RootKind::ThreadStatic => THREAD_STATIC_VARIABLE,
        _ => STATIC_VARIABLE,
    };
    format!("{front}{type_name}.{field}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_each_kind_is_known_by_its_name() {
        for kind in RootKind::ALL {
            assert_eq!(kind_of(name_of(kind)), Some(kind));
        }
        assert_eq!(kind_of("[Pinned handles]"), Some(RootKind::PinnedHandle));
        assert_eq!((kind_of(TOP), kind_of("[GC Heaps]")), (None, None));
        assert_eq!(kind_of(OTHER_ROOTS), Some(RootKind::Other));
    }

    #[test]
    fn a_group_has_neither_size_nor_address() {
        assert!(is_group(TOP, 0, 0));
        assert!(!is_group("[]c", 0, 0) && !is_group("[RCW A.B]", 24, 0x1000));
    }

    #[test]
    fn a_variable_is_a_group_of_its_own() {
        let name = name_of_variable(RootKind::Static, "A.B[]", "s_items");
        assert_eq!(variable(&name), Some("A.B[].s_items"));
        let name = name_of_variable(RootKind::ThreadStatic, "A", "t_item");
        assert_eq!((variable(&name), variable(TOP)), (Some("A.t_item"), None));
    }
}
