//! Programs and libraries that were compiled ahead of time (NativeAOT). The runtime does not name
//! their methods, but reports at which addresses they are, so that symbol files can name the
//! methods.

use super::modules::short_name;
use super::names::shorten;
use nettrace_parser::{Event, Guid, Value, view};
use std::collections::BTreeMap;

/// Maximum distance of code from the start of its image, in bytes.
const MAX_IMAGE_BYTES: u64 = 1 << 32;

/// A program or library that was compiled ahead of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NativeImage {
    /// Address of the image's first byte.
    pub(crate) start: u64,
    /// Path of the file, as the trace stores it.
    pub(crate) path: String,
    /// File name, as [`short_name`] shortens it.
    pub(crate) name: String,
    /// Build id in hexadecimal, if there is one. For Windows it has the form that [`build_of_pdb`]
    /// returns.
    pub(crate) build_id: Option<String>,
}

/// Returns the build id of a program for Windows: guid and age of the program database, in the form
/// that symbol servers use.
pub(super) fn build_of_pdb(guid: Guid, age: u32) -> Option<String> {
    let digits = guid.to_string().replace('-', "");
    (guid != Guid::ZERO).then(|| format!("{digits}{age:x}"))
}

/// The images of one process, by their start.
#[derive(Debug, Clone, Default)]
pub(crate) struct NativeImages(BTreeMap<u64, NativeImage>);

impl NativeImages {
    /// Takes a module event. A module without IL is native code, and its id is its address.
    pub(crate) fn learn(&mut self, module: &view::Module<'_>, event: &Event<'_>) {
        let mut path = module.native_path.to_string();
        if path.is_empty() || !module.il_path.to_string().is_empty() || module.module_id == 0 {
            return;
        }
        shorten(&mut path);
        let build_id = event.field("NativeBuildID").and_then(|value| value.to_text());
        let build_id = build_id.map(|id| id.to_string()).filter(|id| !id.is_empty());
        let build_id = build_id.map(|mut id| {
            shorten(&mut id);
            id.to_ascii_lowercase()
        });
        let build_id = build_id.or_else(|| match event.field("NativePdbSignature")? {
            Value::Guid(guid) => {
                let age = event.field("NativePdbAge")?.as_u64()?;
                build_of_pdb(guid, u32::try_from(age).ok()?)
            }
            _ => None,
        });
        let (start, name) = (module.module_id, short_name(&path).to_owned());
        self.0.insert(start, NativeImage { start, path, name, build_id });
    }

    /// Returns the image that an address belongs to: the nearest one that begins at or below the
    /// address.
    pub(crate) fn find(&self, address: u64) -> Option<&NativeImage> {
        let (start, image) = self.0.range(..=address).next_back()?;
        (address.saturating_sub(*start) < MAX_IMAGE_BYTES).then_some(image)
    }

    /// Returns all images in the order of their addresses.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &NativeImage> {
        self.0.values()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
