//! `fat`: a rundown in which one thread describes methods in long UTF-16 texts.
//!
//! About 85 % of the events are MethodDCEndVerbose whose header has only flag 0x80. The others are
//! maps from IL to native code, and after each map a MethodDCEndVerbose that also stores its event
//! type.

use super::session::{EventType, Events, START_TICKS};
use crate::random::Random;
use nettrace_testdata::synth::{Blob, Sink};

const PROVIDER: &str = "Microsoft-Windows-DotNETRuntimeRundown";
const THREAD: u64 = 40_000;
const METHOD: u32 = 1;
const MAP: u32 = 2;

const SPACES: [&str; 8] = [
    "System",
    "System.Collections.Generic",
    "System.Threading.Tasks",
    "System.Text.Json.Serialization",
    "Microsoft.Extensions.DependencyInjection",
    "System.Net.Http",
    "Contoso.Orders.Storage",
    "System.Linq",
];
const TYPES: [&str; 8] = [
    "Dictionary`2[System.__Canon,System.__Canon]",
    "HttpConnectionPool+<SendAsync>d__84",
    "List`1[System.Int32]",
    "String",
    "OrderRepository",
    "ValueTask`1",
    "ServiceCollectionExtensions+<>c__DisplayClass3_0",
    "JsonTypeInfo`1[System.DateTimeOffset]",
];
const NAMES: [&str; 8] = [
    "MoveNext",
    ".ctor",
    "get_Count",
    "TryInsertCore",
    "<ConfigureServices>b__0",
    "WriteAsPropertyNameCore",
    "Dispose",
    "FindOrderByCustomerAndDate",
];
const SIGNATURES: [&str; 8] = [
    "instance void  ()",
    "instance bool  (!0,!1,value class InsertionBehavior)",
    "class System.Threading.Tasks.Task`1<!!0>  (class System.String)",
    "instance int32  ()",
    "void  (class System.IServiceProvider,int32)",
    "instance void  (value class System.ReadOnlySpan`1<wchar>,int32,int32)",
    "bool  (!!0&,!!1&,class System.String)",
    "class System.String  (int64)",
];

/// Source of the events of `fat`.
#[derive(Debug)]
pub struct Fat {
    random: Random,
    ticks: u64,
    methods: u64,
    last: u32,
}

impl Fat {
    /// Creates a source. All sources give equal events.
    pub fn new() -> Fat {
        Fat { random: Random::new(3), ticks: START_TICKS, methods: 0, last: METHOD }
    }

    fn method(&mut self, sink: &mut Sink) {
        self.methods += 1;
        let start = 0x7f12_3400_0000 + 416 * self.methods;
        sink.u64(0x7f11_0000_0000 + 24 * self.methods).u64(0x7f11_8000_1000 + self.methods / 2000);
        sink.u64(start).u32(self.random.between(12, 900) as u32);
        sink.u32(0x0600_0000 + (self.methods % 20_000) as u32).u32(0x0100_0003);
        let space = *self.random.pick(&SPACES);
        let kind = *self.random.pick(&TYPES);
        sink.utf16z(&format!("{space}.{kind}"));
        let (name, signature) = (*self.random.pick(&NAMES), *self.random.pick(&SIGNATURES));
        sink.utf16z(name).utf16z(signature);
        sink.u16(9);
    }

    fn map(&mut self, sink: &mut Sink) {
        let entries = self.random.between(10, 40) as u16;
        sink.u64(0x7f11_0000_0000 + 24 * self.methods).u64(0).u8(0).u16(entries);
        for entry in 0..2 * u32::from(entries) {
            sink.u32(3 * entry);
        }
        sink.u16(9);
    }
}

impl Default for Fat {
    fn default() -> Self {
        Fat::new()
    }
}

impl Events for Fat {
    fn types(&self) -> Vec<EventType> {
        // In the order of the metadata ids METHOD and MAP.
        vec![EventType::native(PROVIDER, 144, 1), EventType::native(PROVIDER, 150, 0)]
    }

    fn capture_threads(&self) -> Vec<u64> {
        vec![THREAD]
    }

    fn is_region_end(&self, events: u64) -> bool {
        events >= 10_000
    }

    fn stacks(&mut self) -> Vec<Vec<u64>> {
        // Runtimes store an empty stack, too.
        vec![Vec::new()]
    }

    fn next(&mut self, blob: &mut Blob) {
        let mut sink = Sink::new();
        self.last = if self.last == METHOD && self.random.chance(8) { MAP } else { METHOD };
        match self.last {
            METHOD => self.method(&mut sink),
            _ => self.map(&mut sink),
        }
        blob.metadata_id = self.last;
        blob.thread_id = THREAD;
        blob.capture_thread_id = THREAD;
        blob.stack_id = 1;
        self.ticks += self.random.between(90, 2_000);
        blob.ticks = self.ticks;
        blob.payload = sink.into_vec();
    }
}
