//! Makes files of the format `.gcdump`, by its description and without the code under test.

/// Type, size and children of a node.
pub(crate) type MadeNode = (i32, i32, Vec<i32>);

/// Number of bytes of labels, and what else may differ between files.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) version: u32,
    pub(crate) minimum: u32,
    pub(crate) label_bytes: usize,
    /// Types: name, size, module.
    pub(crate) types: Vec<(Option<&'static str>, i32, Option<&'static str>)>,
    /// Nodes: type, size, children, address. `None`: not dumped.
    pub(crate) nodes: Vec<(Option<MadeNode>, u64)>,
    pub(crate) root: i32,
    pub(crate) total: Option<i64>,
    /// Segments: start, end, ends of generations 0 to 2, of large and pinned objects.
    pub(crate) segments: Vec<[i64; 7]>,
    pub(crate) multipliers: Vec<f32>,
    pub(crate) has_interop: bool,
    /// Names of types that come later, with the size in bytes of a module's size.
    pub(crate) deferred: Option<usize>,
    pub(crate) has_unknown_fields: bool,
    pub(crate) tool: Option<&'static str>,
}

/// Returns the example of the format's description, with roots: three types, six nodes.
impl Default for Made {
    fn default() -> Made {
        let node = |of, bytes, children: &[i32], at: u64| {
            (Some((of, bytes, children.to_vec())), if at == 0 { 0 } else { 0x7f00_0000_0000 + at })
        };
        Made {
            version: 10,
            minimum: 8,
            label_bytes: 4,
            types: vec![
                (Some("UNDEFINED"), 0, None),
                (Some("[.NET Roots]"), 0, None),
                (Some("Demo.Node"), 24, Some("/app/Demo.dll")),
                (Some("Demo.Leaf"), 40, Some("C:\\app\\Demo.dll")),
                (Some("[static vars]"), 0, None),
                (Some("[static var Demo.Node.s_first]"), 0, None),
                (Some("[local vars]"), 0, None),
                (Some("Demo.Unused"), -1, Some("/app/Demo.dll")),
            ],
            nodes: vec![
                node(1, 0, &[6, 8], 0),
                node(2, 24, &[2, 3, 1], 0x40),
                node(2, 24, &[4], 0x80),
                node(3, 40, &[], 0xc0),
                node(3, 48, &[1], 0x100),
                node(3, 40, &[], 0x140),
                node(4, 0, &[7], 0),
                node(5, 0, &[1], 0),
                node(6, 0, &[2, 2], 0),
            ],
            root: 0,
            total: None,
            segments: Vec::new(),
            multipliers: Vec::new(),
            has_interop: false,
            deferred: None,
            has_unknown_fields: false,
            tool: Some("demo"),
        }
    }
}

pub(crate) fn number(value: i32) -> Vec<u8> {
    let length =
        (1..5).find(|n| (-(1i64 << (7 * n - 1))..1 << (7 * n - 1)).contains(&value.into()));
    let length = length.unwrap_or(5);
    (0..length)
        .rev()
        .map(|at| (value >> (7 * at)) as u8 & 0x7f | if at > 0 { 0x80 } else { 0 })
        .collect()
}

fn text(out: &mut Vec<u8>, text: Option<&str>) {
    let Some(text) = text else { return out.extend((-1i32).to_le_bytes()) };
    let units: Vec<u16> = text.encode_utf16().collect();
    out.extend((units.len() as i32).to_le_bytes());
    for unit in units {
        match unit {
            0..0x80 => out.push(unit as u8),
            0x80..0x800 => out.extend([0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]),
            _ => out.extend([
                0xe0 | (unit >> 12) as u8,
                0x80 | (unit >> 6 & 0x3f) as u8,
                0x80 | (unit & 0x3f) as u8,
            ]),
        }
    }
}

impl Made {
    fn begin(&self, out: &mut Vec<u8>, name: &str, version: u32, minimum: u32) -> u64 {
        out.push(4);
        let label = out.len() as u64;
        out.extend([4, 1]);
        out.extend(version.to_le_bytes());
        out.extend(minimum.to_le_bytes());
        text(out, Some(name));
        out.push(6);
        label
    }

    fn label(&self, out: &mut Vec<u8>, label: u64) {
        out.extend(&label.to_le_bytes()[..self.label_bytes]);
    }

    /// Returns the bytes of the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = b"\x14\0\0\0!FastSerialization.1".to_vec();
        let mut forward: Vec<u64> = Vec::new();
        self.begin(&mut out, "GCHeapDump", self.version, self.minimum);
        self.graph(&mut out, &mut forward);
        if self.version >= 9 {
            out.push(1);
            let mean = if self.multipliers.is_empty() { 1f32 } else { 3.0 };
            out.extend([mean.to_le_bytes(), mean.to_le_bytes()].concat());
            out.push(1);
            if self.segments.is_empty() {
                out.push(1);
            } else {
                self.begin(&mut out, "DotNetHeapInfo", 0, 0);
                out.extend([0; 8]);
                self.segments(&mut out, 1);
                out.push(6);
            }
        } else {
            out.extend([0; 24]);
            out.push(1);
        }
        if self.version >= 5 {
            text(&mut out, Some("a log"));
            out.extend(638_000_000_000_000_000i64.to_le_bytes());
            text(&mut out, Some("box"));
            text(&mut out, Some("shöp \u{1f600}"));
            out.extend(4711i32.to_le_bytes());
            out.extend([0; 16]);
        }
        if self.version >= 9 {
            out.extend((self.multipliers.len() as i32).to_le_bytes());
            self.multipliers.iter().for_each(|factor| out.extend(factor.to_le_bytes()));
            out.push(12);
            out.extend((forward.len() as i32).to_le_bytes());
            if self.has_interop {
                self.interop(&mut out)
            } else {
                out.push(1)
            }
            forward.push(out.len() as u64);
            if self.tool.is_some() {
                out.push(13);
                text(&mut out, self.tool);
            }
        } else {
            if self.version >= 6 {
                self.segments(&mut out, 0);
            }
            if self.version >= 7 {
                out.push(1);
            }
        }
        if self.has_unknown_fields {
            out.extend([8, 1, 9, 1, 2, 10, 1, 2, 3, 4, 11, 1, 2, 3, 4, 5, 6, 7, 8, 1]);
            out.push(13);
            text(&mut out, Some("new"));
            out.extend([14, 2, 0, 0, 0, 6, 6]);
            out.push(12);
            out.extend((forward.len() as i32).to_le_bytes());
            // An object of a type that no reader knows.
            self.begin(&mut out, "Some.Thing", 7, 0);
            out.extend([6, 99, 99, 6]);
            forward.push(out.len() as u64);
        }
        out.extend([6, 6]);
        let table = out.len() as u64;
        out.extend((forward.len() as i32).to_le_bytes());
        forward.iter().for_each(|label| self.label(&mut out, *label));
        let last = out.len() as u64;
        self.label(&mut out, table);
        self.label(&mut out, last);
        out
    }

    fn graph(&self, out: &mut Vec<u8>, forward: &mut Vec<u64>) {
        self.begin(out, "Graphs.MemoryGraph", 1, u32::from(self.deferred.is_some()));
        let dumped = || self.nodes.iter().filter_map(|(node, _)| node.as_ref());
        let total = dumped().map(|(_, bytes, _)| i64::from(*bytes)).sum();
        out.extend(self.total.unwrap_or(total).to_le_bytes());
        out.extend(self.root.to_le_bytes());
        out.extend((self.types.len() as i32).to_le_bytes());
        for (name, bytes, module) in &self.types {
            text(out, *name);
            out.extend(bytes.to_le_bytes());
            text(out, *module);
        }
        let (mut offsets, mut blob) = (Vec::new(), vec![0, 0]);
        for (at, (node, _)) in (0i32..).zip(&self.nodes) {
            let Some((of, bytes, children)) = node else {
                offsets.push(0);
                continue;
            };
            offsets.push(blob.len() as u32);
            if self.types.get(*of as usize).is_some_and(|of| of.1 == *bytes) {
                blob.extend(number(of << 1));
            } else {
                blob.extend([number(of << 1 | 1), number(*bytes)].concat());
            }
            blob.extend(number(children.len() as i32));
            children.iter().for_each(|child| blob.extend(number(child - at)));
        }
        out.extend((offsets.len() as i32).to_le_bytes());
        offsets.iter().for_each(|offset| out.extend(offset.to_le_bytes()));
        out.extend((blob.len() as i32).to_le_bytes());
        out.extend(blob);
        if let Some(size_bytes) = self.deferred {
            out.extend((forward.len() as i32).to_le_bytes());
            out.extend((self.types.len() as i32).to_le_bytes());
            let mut module = None;
            for (name, ..) in &self.types {
                let id = if name.is_none() { 0x2a } else { 0i32 };
                out.extend(id.to_le_bytes());
                match (name, module) {
                    (Some(_), _) => out.push(1),
                    (None, Some(label)) => {
                        out.push(2);
                        self.label(out, label);
                    }
                    (None, None) => {
                        module = Some(out.len() as u64);
                        self.begin(out, "Graphs.Module", 0, 0);
                        text(out, Some("/app/Native.dll"));
                        out.extend(0x1000i64.to_le_bytes());
                        out.extend(&0x20_0000i64.to_le_bytes()[..size_bytes]);
                        out.extend(638_000_000_000_000_000i64.to_le_bytes());
                        text(out, Some("Native.pdb"));
                        out.extend([7; 20]);
                        out.push(6);
                    }
                }
                text(out, name.is_none().then_some("!"));
            }
            out.push(6);
            forward.push(out.len() as u64);
        }
        out.extend((self.nodes.len() as i32).to_le_bytes());
        self.nodes.iter().for_each(|(_, address)| out.extend(address.to_le_bytes()));
        out.extend([8, 1, 6]);
    }

    /// Writes segments of a version, the second of which refers to the type of the first.
    fn segments(&self, out: &mut Vec<u8>, version: u32) {
        out.extend((self.segments.len() as i32).to_le_bytes());
        let mut of_type = None;
        for segment in &self.segments {
            match of_type {
                None => of_type = Some(self.begin(out, "GCHeapDumpSegment", version, version)),
                Some(label) => {
                    out.extend([4, 2]);
                    self.label(out, label);
                }
            }
            let fields = if version > 0 { 7 } else { 6 };
            segment[..fields].iter().for_each(|field| out.extend(field.to_le_bytes()));
            out.push(6);
        }
    }

    /// Writes one RCW, one CCW, one interface, and two modules far apart.
    fn interop(&self, out: &mut Vec<u8>) {
        self.begin(out, "InteropInfo", 0, 0);
        [2i32, 1, 1, 1, 2].iter().for_each(|count| out.extend(count.to_le_bytes()));
        out.extend([1; 40 + 32 + 33]);
        for base in [0x1000i64, 0x7fff_0000_0000_0000] {
            out.extend(base.to_le_bytes());
            out.extend([1; 8]);
            text(out, Some("ole32.dll"));
        }
        out.push(6);
    }
}
