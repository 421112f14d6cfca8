//! Names of the values of a field, such as the constants of an enumeration.

use crate::schema::ValueMap;
use std::fmt;

/// Name of a value, or names of its bits. `Display` writes the names of bits joined by `|`, then
/// bits without a name in hexadecimal.
#[derive(Debug, Clone, Copy)]
pub struct ValueName<'m> {
    map: &'m ValueMap,
    value: u64,
}

impl ValueMap {
    /// Returns the name of a value. `None` if neither the value nor any of its bits has a name.
    pub fn name_of(&self, value: u64) -> Option<ValueName<'_>> {
        let name = ValueName { map: self, value };
        let is_named = match name.is_of_bits() {
            true => name.named_bits().next().is_some(),
            false => name.whole().is_some(),
        };
        is_named.then_some(name)
    }
}

impl<'m> ValueName<'m> {
    fn is_of_bits(self) -> bool {
        self.map.is_bitmap && self.value != 0
    }

    /// Returns the name of the whole value.
    fn whole(self) -> Option<&'static str> {
        self.map.entries.iter().find(|(entry, _)| *entry == self.value).map(|(_, name)| *name)
    }

    /// Returns the names: that of the whole value, or those of its bits.
    pub fn names(self) -> impl Iterator<Item = &'static str> + use<'m> {
        let whole = if self.is_of_bits() { None } else { self.whole() };
        let bits = self.named_bits().filter(move |_| self.is_of_bits());
        whole.into_iter().chain(bits.map(|(_, name)| name))
    }

    /// Returns the bits of the value that have no name, if bits have names.
    pub fn nameless_bits(self) -> u64 {
        if !self.is_of_bits() {
            return 0;
        }
        self.named_bits().fold(self.value, |left, (bits, _)| left & !bits)
    }

    /// Returns the bits that are set and have a name.
    fn named_bits(self) -> impl Iterator<Item = (u64, &'static str)> + use<'m> {
        let entries = self.map.entries.iter().copied();
        entries.filter(move |(bits, _)| *bits != 0 && self.value & bits == *bits)
    }
}

impl fmt::Display for ValueName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, name) in self.names().enumerate() {
            if number > 0 {
                f.write_str("|")?;
            }
            f.write_str(name)?;
        }
        match self.nameless_bits() {
            0 => Ok(()),
            bits => write!(f, "|{bits:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(map: &ValueMap, value: u64) -> Option<String> {
        map.name_of(value).map(|name| name.to_string())
    }

    #[test]
    fn a_value_has_its_own_name_and_bits_have_theirs_and_the_rest_is_hexadecimal() {
        let entries = &[(0, "None"), (1, "One"), (2, "Two"), (6, "Six")];
        let map = ValueMap { name: "Numbers", is_bitmap: false, entries };
        assert_eq!((shown(&map, 2).as_deref(), shown(&map, 3)), (Some("Two"), None));
        let map = ValueMap { is_bitmap: true, ..map };
        let names = [(0, "None"), (3, "One|Two"), (7, "One|Two|Six"), (0x11, "One|0x10")];
        for (value, name) in names {
            assert_eq!(shown(&map, value).as_deref(), Some(name));
        }
        assert_eq!(shown(&map, 0x10), None);
    }
}
