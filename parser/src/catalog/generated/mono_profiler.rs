//! Microsoft-DotNETRuntimeMonoProfiler: provider, value names, events.
//!
//! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by
//! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes
//! whose payloads were read by this row.

use crate::catalog::event::{CatalogEvent, event, sent};
use crate::catalog::provider::{CatalogProvider, Key, Use};
use crate::catalog::row::{pointer, records, u32, u64, u8, utf16};
use crate::schema::ValueMap;
use nettrace_guid::Guid;

pub(super) const NAME: &str = "Microsoft-DotNETRuntimeMonoProfiler";

pub(super) static PROVIDER: CatalogProvider = CatalogProvider {
    name: NAME,
    // 7f442d82-0f1d-5155-4b8c-1529eb2e31c2
    guid: Some(Guid::from_bytes([
        0x82, 0x2d, 0x44, 0x7f, 0x1d, 0x0f, 0x55, 0x51, 0x4b, 0x8c, 0x15, 0x29, 0xeb, 0x2e, 0x31, 0xc2,
    ])),
    keywords: &[
        (0x1, "GCKeyword"),
        (0x2, "GCHandleKeyword"),
        (0x8, "LoaderKeyword"),
        (0x10, "JitKeyword"),
        (0x4000, "ContentionKeyword"),
        (0x8000, "ExceptionKeyword"),
        (0x10000, "ThreadingKeyword"),
        (0x100000, "GCHeapDumpKeyword"),
        (0x200000, "GCAllocationKeyword"),
        (0x400000, "GCMovesKeyword"),
        (0x800000, "GCHeapCollectKeyword"),
        (0x1000000, "GCFinalizationKeyword"),
        (0x2000000, "GCResizeKeyword"),
        (0x4000000, "GCRootKeyword"),
        (0x8000000, "GCHeapDumpVTableClassReferenceKeyword"),
        (0x20000000, "MethodTracingKeyword"),
        (0x8000000000, "TypeLoadingKeyword"),
        (0x10000000000, "MonitorKeyword"),
    ],
    key: Key::Id,
    used: Use::WithoutName,
    groups: &[&EVENTS],
    others: None,
};

static EXCEPTION_CLAUSE_TYPE_MAP: ValueMap = ValueMap {
    name: "ExceptionClauseTypeMap",
    is_bitmap: false,
    entries: &[
        (0, "None"),
        (1, "Filter"),
        (2, "Finally"),
        (3, "Fault"),
    ],
};

static GC_EVENT_TYPE_MAP: ValueMap = ValueMap {
    name: "GCEventTypeMap",
    is_bitmap: false,
    entries: &[
        (0, "Start"),
        (5, "End"),
        (6, "PreStopWorld"),
        (7, "PostStopWorld"),
        (8, "PreStartWorld"),
        (9, "PostStartWorld"),
        (10, "PreStopWorldLocked"),
        (11, "PostStartWorldUnlocked"),
    ],
};

static GC_HANDLE_TYPE_MAP: ValueMap = ValueMap {
    name: "GCHandleTypeMap",
    is_bitmap: false,
    entries: &[
        (0, "Weak"),
        (1, "WeakTrackResurrection"),
        (2, "Normal"),
        (3, "Pinned"),
    ],
};

static GC_ROOT_TYPE_MAP: ValueMap = ValueMap {
    name: "GCRootTypeMap",
    is_bitmap: false,
    entries: &[
        (0, "External"),
        (1, "Stack"),
        (2, "FinalizerQueue"),
        (3, "Static"),
        (4, "ThreadStatic"),
        (5, "ContextStatic"),
        (6, "GCHandle"),
        (7, "Jit"),
        (8, "Threading"),
        (9, "Domain"),
        (10, "Reflection"),
        (11, "Marshal"),
        (12, "ThreadPool"),
        (13, "Debugger"),
        (14, "Handle"),
        (15, "Ephemeron"),
        (16, "ToggleRef"),
    ],
};

static JIT_CODE_BUFFER_TYPE_MAP: ValueMap = ValueMap {
    name: "JitCodeBufferTypeMap",
    is_bitmap: false,
    entries: &[
        (0, "Method"),
        (1, "MethodTrampoline"),
        (2, "UnboxTrampoline"),
        (3, "IMTTrampoline"),
        (4, "GenericsTrampoline"),
        (5, "SpecificTrampoline"),
        (6, "Helper"),
    ],
};

pub(super) static EVENTS: [CatalogEvent; 65] = [
    event(NAME, 1, 0, "MonoProfilerContextLoaded", "MonoProfiler/ContextLoaded", sent("MonoProfiler", 18, 4, 0x8), &[
        pointer("ObjectID").hex(), u64("AppDomainID").hex(), u64("ContextID").hex(),
    ]), // since 6.0
    event(NAME, 2, 0, "MonoProfilerContextUnloaded", "MonoProfiler/ContextUnloaded", sent("MonoProfiler", 19, 4, 0x8), &[
        pointer("ObjectID").hex(), u64("AppDomainID").hex(), u64("ContextID").hex(),
    ]), // since 6.0
    event(NAME, 3, 0, "MonoProfilerAppDomainLoading", "MonoProfiler/AppDomainLoading", sent("MonoProfiler", 20, 5, 0x8), &[
        u64("AppDomainID").hex(),
    ]), // since 6.0
    event(NAME, 4, 0, "MonoProfilerAppDomainLoaded", "MonoProfiler/AppDomainLoaded", sent("MonoProfiler", 21, 4, 0x8), &[
        u64("AppDomainID").hex(),
    ]), // since 6.0
    event(NAME, 5, 0, "MonoProfilerAppDomainUnloading", "MonoProfiler/AppDomainUnloading", sent("MonoProfiler", 22, 5, 0x8), &[
        u64("AppDomainID").hex(),
    ]), // since 6.0
    event(NAME, 6, 0, "MonoProfilerAppDomainUnloaded", "MonoProfiler/AppDomainUnloaded", sent("MonoProfiler", 23, 4, 0x8), &[
        u64("AppDomainID").hex(),
    ]), // since 6.0
    event(NAME, 7, 0, "MonoProfilerAppDomainName", "MonoProfiler/AppDomainName", sent("MonoProfiler", 24, 5, 0x8), &[
        u64("AppDomainID").hex(), utf16("AppDomainName"),
    ]), // since 6.0
    event(NAME, 8, 0, "MonoProfilerJitBegin", "MonoProfiler/JitBegin", sent("MonoProfiler", 25, 4, 0x10), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u32("MethodToken").hex(),
    ]), // since 6.0
    event(NAME, 9, 0, "MonoProfilerJitFailed", "MonoProfiler/JitFailed", sent("MonoProfiler", 26, 4, 0x10), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u32("MethodToken").hex(),
    ]), // since 6.0
    event(NAME, 10, 0, "MonoProfilerJitDone", "MonoProfiler/JitDone", sent("MonoProfiler", 27, 4, 0x10), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u32("MethodToken").hex(),
    ]), // since 6.0
    event(NAME, 10, 1, "MonoProfilerJitDone_V1", "MonoProfiler/JitDone", sent("MonoProfiler", 27, 4, 0x10), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u32("MethodToken").hex(), u32("Count").hex().kept(0),
        records("Values", 0, &[
            u8("Type"), u64("ClassID").hex(),
        ]),
    ]), // since 6.0
    event(NAME, 11, 0, "MonoProfilerJitChunkCreated", "MonoProfiler/JitChunkCreated", sent("MonoProfiler", 28, 4, 0x10), &[
        pointer("ChunkID").hex(), u64("ChunkSize").hex().bytes(),
    ]), // since 6.0
    event(NAME, 12, 0, "MonoProfilerJitChunkDestroyed", "MonoProfiler/JitChunkDestroyed", sent("MonoProfiler", 29, 4, 0x10), &[
        pointer("ChunkID").hex(),
    ]), // since 6.0
    event(NAME, 13, 0, "MonoProfilerJitCodeBuffer", "MonoProfiler/JitCodeBuffer", sent("MonoProfiler", 30, 4, 0x10), &[
        pointer("BufferID").hex(), u64("BufferSize").hex().bytes(),
        u8("BufferType").named(&JIT_CODE_BUFFER_TYPE_MAP),
    ]), // since 6.0
    event(NAME, 14, 0, "MonoProfilerClassLoading", "MonoProfiler/ClassLoading", sent("MonoProfiler", 31, 5, 0x8000000000), &[
        u64("ClassID").hex(), u64("ModuleID").hex(),
    ]), // since 6.0
    event(NAME, 15, 0, "MonoProfilerClassFailed", "MonoProfiler/ClassFailed", sent("MonoProfiler", 32, 4, 0x8000000000), &[
        u64("ClassID").hex(), u64("ModuleID").hex(),
    ]), // since 6.0
    event(NAME, 16, 0, "MonoProfilerClassLoaded", "MonoProfiler/ClassLoaded", sent("MonoProfiler", 33, 4, 0x8000000000), &[
        u64("ClassID").hex(), u64("ModuleID").hex(), utf16("ClassName"),
    ]), // since 6.0
    event(NAME, 16, 1, "MonoProfilerClassLoaded_V1", "MonoProfiler/ClassLoaded", sent("MonoProfiler", 33, 4, 0x8000000000), &[
        u64("ClassID").hex(), u64("ModuleID").hex(), utf16("ClassName"), u32("Count").hex().kept(0),
        records("Values", 0, &[
            u8("Type"), u64("ClassID").hex(),
        ]),
    ]), // since 6.0
    event(NAME, 17, 0, "MonoProfilerVTableLoading", "MonoProfiler/VTableLoading", sent("MonoProfiler", 34, 5, 0x8000000000), &[
        u64("VTableID").hex(), u64("ClassID").hex(), u64("AppDomainID").hex(),
    ]), // since 6.0
    event(NAME, 18, 0, "MonoProfilerVTableFailed", "MonoProfiler/VTableFailed", sent("MonoProfiler", 35, 4, 0x8000000000), &[
        u64("VTableID").hex(), u64("ClassID").hex(), u64("AppDomainID").hex(),
    ]), // since 6.0
    event(NAME, 19, 0, "MonoProfilerVTableLoaded", "MonoProfiler/VTableLoaded", sent("MonoProfiler", 36, 4, 0x8000000000), &[
        u64("VTableID").hex(), u64("ClassID").hex(), u64("AppDomainID").hex(),
    ]), // since 6.0
    event(NAME, 20, 0, "MonoProfilerModuleLoading", "MonoProfiler/ModuleLoading", sent("MonoProfiler", 37, 5, 0x8), &[
        u64("ModuleID").hex(),
    ]), // since 6.0
    event(NAME, 21, 0, "MonoProfilerModuleFailed", "MonoProfiler/ModuleFailed", sent("MonoProfiler", 38, 4, 0x8), &[
        u64("ModuleID").hex(),
    ]), // since 6.0
    event(NAME, 22, 0, "MonoProfilerModuleLoaded", "MonoProfiler/ModuleLoaded", sent("MonoProfiler", 39, 4, 0x8), &[
        u64("ModuleID").hex(), utf16("ModuleName"), utf16("ModuleSignature"),
    ]), // since 6.0
    event(NAME, 23, 0, "MonoProfilerModuleUnloading", "MonoProfiler/ModuleUnloading", sent("MonoProfiler", 40, 5, 0x8), &[
        u64("ModuleID").hex(),
    ]), // since 6.0
    event(NAME, 24, 0, "MonoProfilerModuleUnloaded", "MonoProfiler/ModuleUnloaded", sent("MonoProfiler", 41, 4, 0x8), &[
        u64("ModuleID").hex(), utf16("ModuleName"), utf16("ModuleSignature"),
    ]), // since 6.0
    event(NAME, 25, 0, "MonoProfilerAssemblyLoading", "MonoProfiler/AssemblyLoading", sent("MonoProfiler", 42, 5, 0x8), &[
        u64("AssemblyID").hex(), u64("ModuleID").hex(),
    ]), // since 6.0
    event(NAME, 26, 0, "MonoProfilerAssemblyLoaded", "MonoProfiler/AssemblyLoaded", sent("MonoProfiler", 43, 4, 0x8), &[
        u64("AssemblyID").hex(), u64("ModuleID").hex(), utf16("AssemblyName"),
    ]), // since 6.0
    event(NAME, 27, 0, "MonoProfilerAssemblyUnloading", "MonoProfiler/AssemblyUnloading", sent("MonoProfiler", 44, 5, 0x8), &[
        u64("AssemblyID").hex(), u64("ModuleID").hex(),
    ]), // since 6.0
    event(NAME, 28, 0, "MonoProfilerAssemblyUnloaded", "MonoProfiler/AssemblyUnloaded", sent("MonoProfiler", 45, 4, 0x8), &[
        u64("AssemblyID").hex(), u64("ModuleID").hex(), utf16("AssemblyName"),
    ]), // since 6.0
    event(NAME, 29, 0, "MonoProfilerMethodEnter", "MonoProfiler/MethodEnter", sent("MonoProfiler", 46, 4, 0x20000000), &[
        u64("MethodID").hex(),
    ]), // since 6.0
    event(NAME, 30, 0, "MonoProfilerMethodLeave", "MonoProfiler/MethodLeave", sent("MonoProfiler", 47, 4, 0x20000000), &[
        u64("MethodID").hex(),
    ]), // since 6.0
    event(NAME, 31, 0, "MonoProfilerMethodTailCall", "MonoProfiler/MethodTailCall", sent("MonoProfiler", 48, 4, 0x20000000), &[
        u64("MethodID").hex(),
    ]), // since 6.0
    event(NAME, 32, 0, "MonoProfilerMethodExceptionLeave", "MonoProfiler/MethodExceptionLeave", sent("MonoProfiler", 49, 4, 0x20000000), &[
        u64("MethodID").hex(),
    ]), // since 6.0
    event(NAME, 33, 0, "MonoProfilerMethodFree", "MonoProfiler/MethodFree", sent("MonoProfiler", 50, 4, 0x20000000), &[
        u64("MethodID").hex(),
    ]), // since 6.0
    event(NAME, 34, 0, "MonoProfilerMethodBeginInvoke", "MonoProfiler/MethodBeginInvoke", sent("MonoProfiler", 51, 4, 0x20000000), &[
        u64("MethodID").hex(),
    ]), // since 6.0
    event(NAME, 35, 0, "MonoProfilerMethodEndInvoke", "MonoProfiler/MethodEndInvoke", sent("MonoProfiler", 52, 4, 0x20000000), &[
        u64("MethodID").hex(),
    ]), // since 6.0
    event(NAME, 36, 0, "MonoProfilerExceptionThrow", "MonoProfiler/ExceptionThrow", sent("MonoProfiler", 53, 4, 0x8000), &[
        u64("TypeID").hex(), pointer("ObjectID").hex(),
    ]), // since 6.0
    event(NAME, 37, 0, "MonoProfilerExceptionClause", "MonoProfiler/ExceptionClause", sent("MonoProfiler", 54, 4, 0x8000), &[
        u8("ClauseType").named(&EXCEPTION_CLAUSE_TYPE_MAP), u32("ClauseIdx"), u64("MethodID").hex(),
        u64("TypeID").hex(), pointer("ObjectID").hex(),
    ]), // since 6.0
    event(NAME, 38, 0, "MonoProfilerGCEvent", "MonoProfiler/GCEvent", sent("MonoProfiler", 55, 4, 0x1), &[
        u8("GCEventType").named(&GC_EVENT_TYPE_MAP), u32("GCGeneration"),
    ]), // since 6.0
    event(NAME, 39, 0, "MonoProfilerGCAllocation", "MonoProfiler/GCAllocation", sent("MonoProfiler", 56, 4, 0x200000), &[
        u64("VTableID").hex(), pointer("ObjectID").hex(), u64("ObjectSize").hex().bytes(),
    ]), // since 6.0
    event(NAME, 40, 0, "MonoProfilerGCMoves", "MonoProfiler/GCMoves", sent("MonoProfiler", 57, 4, 0x400000), &[
        u32("Count").hex().kept(0),
        records("Values", 0, &[
            pointer("ObjectID").hex(), pointer("AddressID").hex(),
        ]),
    ]), // since 6.0
    event(NAME, 41, 0, "MonoProfilerGCResize", "MonoProfiler/GCResize", sent("MonoProfiler", 58, 4, 0x2000000), &[
        u64("NewSize").hex().bytes(),
    ]), // since 6.0
    event(NAME, 42, 0, "MonoProfilerGCHandleCreated", "MonoProfiler/GCHandleCreated", sent("MonoProfiler", 59, 4, 0x2), &[
        u64("HandleID").hex(), u8("HandleType").named(&GC_HANDLE_TYPE_MAP), pointer("ObjectID").hex(),
    ]), // since 6.0
    event(NAME, 43, 0, "MonoProfilerGCHandleDeleted", "MonoProfiler/GCHandleDeleted", sent("MonoProfiler", 60, 4, 0x2), &[
        u64("HandleID").hex(), u8("HandleType").named(&GC_HANDLE_TYPE_MAP),
    ]), // since 6.0
    event(NAME, 44, 0, "MonoProfilerGCFinalizing", "MonoProfiler/GCFinalizing", sent("MonoProfiler", 61, 4, 0x1000000), &[]), // since 6.0
    event(NAME, 45, 0, "MonoProfilerGCFinalized", "MonoProfiler/GCFinalized", sent("MonoProfiler", 62, 4, 0x1000000), &[]), // since 6.0
    event(NAME, 46, 0, "MonoProfilerGCFinalizingObject", "MonoProfiler/GCFinalizingObject", sent("MonoProfiler", 63, 4, 0x1000000), &[
        pointer("ObjectID").hex(),
    ]), // since 6.0
    event(NAME, 47, 0, "MonoProfilerGCFinalizedObject", "MonoProfiler/GCFinalizedObject", sent("MonoProfiler", 64, 4, 0x1000000), &[
        pointer("ObjectID").hex(),
    ]), // since 6.0
    event(NAME, 48, 0, "MonoProfilerGCRootRegister", "MonoProfiler/GCRootRegister", sent("MonoProfiler", 65, 4, 0x4000000), &[
        pointer("RootID").hex(), u64("RootSize").hex().bytes(), u8("RootType").named(&GC_ROOT_TYPE_MAP),
        u64("RootKeyID").hex(), utf16("RootKeyName"),
    ]), // since 6.0
    event(NAME, 49, 0, "MonoProfilerGCRootUnregister", "MonoProfiler/GCRootUnregister", sent("MonoProfiler", 66, 4, 0x4000000), &[
        pointer("RootID").hex(),
    ]), // since 6.0
    event(NAME, 50, 0, "MonoProfilerGCRoots", "MonoProfiler/GCRoots", sent("MonoProfiler", 67, 4, 0x4000000), &[
        u32("Count").hex().kept(0),
        records("Values", 0, &[
            pointer("ObjectID").hex(), pointer("AddressID").hex(),
        ]),
    ]), // since 6.0
    event(NAME, 51, 0, "MonoProfilerGCHeapDumpStart", "MonoProfiler/GCHeapDumpStart", sent("MonoProfiler", 68, 4, 0x100000), &[
        utf16("HeapCollectParam"),
    ]), // since 6.0
    event(NAME, 52, 0, "MonoProfilerGCHeapDumpStop", "MonoProfiler/GCHeapDumpStop", sent("MonoProfiler", 69, 4, 0x100000), &[]), // since 6.0
    event(NAME, 53, 0, "MonoProfilerGCHeapDumpObjectReference", "MonoProfiler/GCHeapDumpObjectReference", sent("MonoProfiler", 70, 4, 0x100000), &[
        pointer("ObjectID").hex(), u64("VTableID").hex(), u64("ObjectSize").hex().bytes(),
        u8("ObjectGeneration"), u32("Count").hex().kept(0),
        records("Values", 0, &[
            u32("ReferenceOffset"), pointer("ObjectID").hex(),
        ]),
    ]), // since 6.0
    event(NAME, 54, 0, "MonoProfilerMonitorContention", "MonoProfiler/MonitorContention", sent("MonoProfiler", 71, 4, 0x10000004000), &[
        pointer("ObjectID").hex(),
    ]), // since 6.0
    event(NAME, 55, 0, "MonoProfilerMonitorFailed", "MonoProfiler/MonitorFailed", sent("MonoProfiler", 72, 4, 0x10000000000), &[
        pointer("ObjectID").hex(),
    ]), // since 6.0
    event(NAME, 56, 0, "MonoProfilerMonitorAcquired", "MonoProfiler/MonitorAquired", sent("MonoProfiler", 73, 4, 0x10000000000), &[
        pointer("ObjectID").hex(),
    ]), // since 6.0
    event(NAME, 57, 0, "MonoProfilerThreadStarted", "MonoProfiler/ThreadStarted", sent("MonoProfiler", 74, 4, 0x10000), &[
        u64("ThreadID").hex(),
    ]), // since 6.0
    event(NAME, 58, 0, "MonoProfilerThreadStopping", "MonoProfiler/ThreadStopping", sent("MonoProfiler", 75, 5, 0x10000), &[
        u64("ThreadID").hex(),
    ]), // since 6.0
    event(NAME, 59, 0, "MonoProfilerThreadStopped", "MonoProfiler/ThreadStopped", sent("MonoProfiler", 76, 4, 0x10000), &[
        u64("ThreadID").hex(),
    ]), // since 6.0
    event(NAME, 60, 0, "MonoProfilerThreadExited", "MonoProfiler/ThreadExited", sent("MonoProfiler", 77, 4, 0x10000), &[
        u64("ThreadID").hex(),
    ]), // since 6.0
    event(NAME, 61, 0, "MonoProfilerThreadName", "MonoProfiler/ThreadName", sent("MonoProfiler", 78, 5, 0x10000), &[
        u64("ThreadID").hex(), utf16("ThreadName"),
    ]), // since 6.0
    event(NAME, 62, 0, "MonoProfilerJitDoneVerbose", "MonoProfiler/JitDoneVerbose", sent("MonoProfiler", 79, 5, 0x10), &[
        u64("MethodID").hex(), utf16("MethodNamespace"), utf16("MethodName"), utf16("MethodSignature"),
    ]), // since 6.0
    event(NAME, 63, 0, "MonoProfilerGCHeapDumpVTableClassReference", "MonoProfiler/GCHeapDumpVTableClassReference", sent("MonoProfiler", 80, 4, 0x8000000), &[
        u64("VTableID").hex(), u64("ClassID").hex(), u64("ModuleID").hex(), utf16("ClassName"),
    ]), // since 6.0
];
