//! The payload fields that `--fields` requests, in the requested order.

use crate::event_types::EventTypes;
use crate::nearest::{nearest, suggestion};
use crate::shape::{Name, Names, Path};

/// The requested fields.
#[derive(Debug)]
pub(crate) struct Selection {
    wanted: Vec<String>,
    /// Place of each requested field, by [`TypeIndex::shape`](crate::TypeIndex::shape). Empty for
    /// shapes not shown so far.
    of_shapes: Vec<Vec<Option<Chosen>>>,
}

/// Place and name of a requested field that an event has.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    /// Place in the payload.
    pub(crate) path: Path,
    /// Name in the schema, preceded by the names of the objects around it.
    pub(crate) name: Name,
}

impl Selection {
    /// Makes a selection of the requested fields, or returns `None` if no field was requested, so
    /// that all fields are shown.
    pub(crate) fn new(wanted: &[String]) -> Option<Selection> {
        let mut distinct: Vec<String> = Vec::new();
        for name in wanted.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
            if !distinct.iter().any(|known| known == name) {
                distinct.push(name.to_owned());
            }
        }
        (!distinct.is_empty()).then(|| Selection { wanted: distinct, of_shapes: Vec::new() })
    }

    /// Returns the names of the fields as the user wrote them.
    pub(crate) fn wanted(&self) -> &[String] {
        &self.wanted
    }

    /// Returns the places of the requested fields within payloads of a shape; `None` for a field
    /// that the shape does not have.
    pub(crate) fn of_shape(&mut self, shape: usize, names: &Names) -> &[Option<Chosen>] {
        if shape >= self.of_shapes.len() {
            self.of_shapes.resize(shape.saturating_add(1), Vec::new());
        }
        match self.of_shapes.get_mut(shape) {
            Some(chosen) => {
                if chosen.is_empty() {
                    *chosen = choose_all(names, &self.wanted);
                }
                chosen
            }
            None => &[],
        }
    }

    /// Lists the requested names that no shown event has, each with suggestions of existing names.
    pub(crate) fn unmatched(&self, types: &EventTypes) -> Vec<String> {
        let shown = || self.of_shapes.iter().enumerate().filter(|(_, chosen)| !chosen.is_empty());
        if shown().next().is_none() {
            // No event passed, which the filter reports.
            return Vec::new();
        }
        let is_missing =
            |at: usize| shown().all(|(_, chosen)| chosen.get(at).is_none_or(Option::is_none));
        let missing = self.wanted.iter().enumerate().filter(|(at, _)| is_missing(*at));
        missing
            .map(|(_, wanted)| {
                let known: Vec<String> = shown()
                    .filter_map(|(shape, _)| types.shapes().get(shape))
                    .flat_map(|shape| shape.names.all())
                    .collect();
                let names = nearest(wanted, known.iter().map(String::as_str));
                format!("no event has a field {wanted}{}", suggestion(&names))
            })
            .collect()
    }
}

fn choose_all(names: &Names, wanted: &[String]) -> Vec<Option<Chosen>> {
    let mut all: Vec<Option<Chosen>> = Vec::new();
    for wanted in wanted {
        // Two spellings may mean one field.
        let is_new = |chosen: &Chosen| all.iter().flatten().all(|known| known.path != chosen.path);
        let chosen = choose(names, wanted).filter(is_new);
        all.push(chosen);
    }
    all
}

fn choose(names: &Names, wanted: &str) -> Option<Chosen> {
    let path = names.find(wanted)?;
    let name = names.at(&path)?;
    let name =
        if path.outermost().is_some() { name.clone() } else { name.renamed(&names.spelt(&path)) };
    Some(Chosen { path, name })
}
