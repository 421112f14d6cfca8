//! Maps places in compiled code to IL instructions, from `MethodILToNativeMap` (runtime
//! 190, rundown 149 and 150).
//!
//! The events identify a method, not its code: they follow the event that reports the
//! code, and apply to the method's newest code.

use super::handle::MethodHandle;
use super::hash::NumberMap;
use nettrace_parser::{Event, Value};

/// IL offsets from here on are special values: prologues, epilogues, code without IL.
const FIRST_SPECIAL: u32 = 0xffff_fff0;

/// Maps for the code of one process, if they are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct IlMaps {
    /// The newest code of each method, by method id and ReJIT id.
    newest: NumberMap<(u64, u64), MethodHandle>,
    /// Native and IL offsets for each code, sorted by native offset.
    maps: NumberMap<MethodHandle, Vec<(u32, u32)>>,
}

impl IlMaps {
    /// Records that code was reported.
    pub(crate) fn met(&mut self, method_id: u64, rejit_id: u64, code: MethodHandle) {
        self.newest.insert((method_id, rejit_id), code);
    }

    /// Learns from `MethodILToNativeMap`.
    pub(crate) fn learn(&mut self, event: &Event<'_>) -> Option<()> {
        let fields = &mut event.fields();
        let method_id = fields.find("MethodID")?.value.ok()?.as_u64()?;
        let rejit_id = fields.find("ReJITID")?.value.ok()?.as_u64()?;
        let code = *self.newest.get(&(method_id, rejit_id))?;
        let il = numbers(&fields.find("ILOffsets")?.value.ok()?)?;
        let native = numbers(&fields.find("NativeOffsets")?.value.ok()?)?;
        let mut map: Vec<(u32, u32)> = native.into_iter().zip(il).collect();
        map.sort_by_key(|(native, _)| *native);
        self.maps.insert(code, map);
        Some(())
    }

    /// The IL offset of the instruction at a place in code.
    pub(crate) fn find(&self, code: MethodHandle, native_offset: u32) -> Option<u32> {
        let map = self.maps.get(&code)?;
        let end = map.partition_point(|(native, _)| *native <= native_offset);
        let (_, il) = *map.get(end.checked_sub(1)?)?;
        (il < FIRST_SPECIAL).then_some(il)
    }
}

fn numbers(value: &Value<'_>) -> Option<Vec<u32>> {
    let values = value.as_array()?;
    values.iter().map(|value| u32::try_from(value.as_u64()?).ok()).collect()
}
