//! Assemblies and application domains of a process.
//!
//! | reported by | what |
//! |---|---|
//! | runtime 154, 155; rundown 155, 156 | an assembly: its id, its domain's id, its full name |
//! | runtime 156, 157; rundown 157, 158 | a domain: its id and name |

use super::names::shorten;
use crate::hash::HashMap;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// An assembly that a process has loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub(crate) struct Assembly {
    /// Id by which modules refer to the assembly.
    pub assembly_id: u64,
    /// Id of the assembly's domain.
    pub domain_id: u64,
    /// Full name, such as `System.Console, Version=10.0.0.0, Culture=neutral,
    /// PublicKeyToken=b03f5f7f11d50a3a`.
    pub name: String,
}

/// Beginnings of the full names that the runtime's own assembly may have.
const CORE: [&str; 2] = ["System.Private.CoreLib,", "mscorlib,"];

/// Returns whether a full name is that of the runtime's own assembly.
pub(crate) fn is_core(full_name: &str) -> bool {
    CORE.iter().any(|core| full_name.starts_with(core))
}

/// An application domain of a process. .NET has one; .NET Framework and Mono may have
/// several.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub(crate) struct Domain {
    /// Id by which assemblies refer to the domain.
    pub domain_id: u64,
    /// Name of the domain, such as `clrhost`.
    pub name: String,
}

/// Assemblies and domains of one process, in the order in which they were first reported.
#[derive(Debug, Clone, Default)]
pub(crate) struct Assemblies {
    rows: Vec<Assembly>,
    by_id: HashMap<u64, u32>,
    domains: Vec<Domain>,
    domain_by_id: HashMap<u64, u32>,
}

impl Assemblies {
    /// Adds what an event reports; `None` if the event is not in the [module's table](self).
    pub(crate) fn learn(&mut self, event: &Event<'_>) -> Option<()> {
        let is_assembly = match (event.known_provider(), event.id()) {
            (KnownProvider::Runtime, 154 | 155) | (KnownProvider::Rundown, 155 | 156) => true,
            (KnownProvider::Runtime, 156 | 157) | (KnownProvider::Rundown, 157 | 158) => false,
            _ => return None,
        };
        let fields = &mut event.fields();
        if is_assembly {
            let assembly_id = fields.find("AssemblyID")?.value.ok()?.as_u64()?;
            let domain_id = fields.find("AppDomainID")?.value.ok()?.as_u64()?;
            let mut name = fields.find("FullyQualifiedAssemblyName")?.value.ok()?.to_text()?;
            shorten(&mut name);
            let place = u32::try_from(self.rows.len()).ok()?;
            let row = Assembly { assembly_id, domain_id, name };
            let known = *self.by_id.entry(assembly_id).or_insert(place);
            match self.rows.get_mut(known as usize) {
                // The id may have been reused.
                Some(known) => *known = row,
                None => self.rows.push(row),
            }
        } else {
            let domain_id = fields.find("AppDomainID")?.value.ok()?.as_u64()?;
            let mut name = fields.find("AppDomainName")?.value.ok()?.to_text()?;
            shorten(&mut name);
            let place = u32::try_from(self.domains.len()).ok()?;
            let known = *self.domain_by_id.entry(domain_id).or_insert(place);
            match self.domains.get_mut(known as usize) {
                Some(known) => known.name = name,
                None => self.domains.push(Domain { domain_id, name }),
            }
        }
        Some(())
    }

    pub(crate) fn find(&self, assembly_id: u64) -> Option<&Assembly> {
        self.rows.get(*self.by_id.get(&assembly_id)? as usize)
    }

    pub(crate) fn find_domain(&self, domain_id: u64) -> Option<&Domain> {
        self.domains.get(*self.domain_by_id.get(&domain_id)? as usize)
    }
}
