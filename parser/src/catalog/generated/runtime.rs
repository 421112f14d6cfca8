//! Microsoft-Windows-DotNETRuntime: provider, value names.
//!
//! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by
//! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes
//! whose payloads were read by this row.

use crate::catalog::provider::{CatalogProvider, Key, Use};
use crate::schema::ValueMap;
use nettrace_guid::Guid;

pub(super) const NAME: &str = "Microsoft-Windows-DotNETRuntime";

pub(super) static PROVIDER: CatalogProvider = CatalogProvider {
    name: NAME,
    // e13c0d23-ccbc-4e12-931b-d9cc2eee27e4
    guid: Some(Guid::from_bytes([
        0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4,
    ])),
    keywords: &[
        (0x1, "GCKeyword"),
        (0x2, "GCHandleKeyword"),
        (0x4, "AssemblyLoaderKeyword"),
        (0x8, "LoaderKeyword"),
        (0x10, "JitKeyword"),
        (0x20, "NGenKeyword"),
        (0x40, "StartEnumerationKeyword"),
        (0x80, "EndEnumerationKeyword"),
        (0x400, "SecurityKeyword"),
        (0x800, "AppDomainResourceManagementKeyword"),
        (0x1000, "JitTracingKeyword"),
        (0x2000, "InteropKeyword"),
        (0x4000, "ContentionKeyword"),
        (0x8000, "ExceptionKeyword"),
        (0x10000, "ThreadingKeyword"),
        (0x20000, "JittedMethodILToNativeMapKeyword"),
        (0x40000, "OverrideAndSuppressNGenEventsKeyword"),
        (0x80000, "TypeKeyword"),
        (0x100000, "GCHeapDumpKeyword"),
        (0x200000, "GCSampledObjectAllocationHighKeyword"),
        (0x400000, "GCHeapSurvivalAndMovementKeyword"),
        (0x800000, "ManagedHeapCollectKeyword"),
        (0x1000000, "GCHeapAndTypeNamesKeyword"),
        (0x2000000, "GCSampledObjectAllocationLowKeyword"),
        (0x20000000, "PerfTrackKeyword"),
        (0x40000000, "StackKeyword"),
        (0x80000000, "ThreadTransferKeyword"),
        (0x100000000, "DebuggerKeyword"),
        (0x200000000, "MonitoringKeyword"),
        (0x400000000, "CodeSymbolsKeyword"),
        (0x800000000, "EventSourceKeyword"),
        (0x1000000000, "CompilationKeyword"),
        (0x2000000000, "CompilationDiagnosticKeyword"),
        (0x4000000000, "MethodDiagnosticKeyword"),
        (0x8000000000, "TypeDiagnosticKeyword"),
        (0x10000000000, "JitInstrumentationDataKeyword"),
        (0x20000000000, "ProfilerKeyword"),
        (0x40000000000, "WaitHandleKeyword"),
        (0x80000000000, "AllocationSamplingKeyword"),
    ],
    key: Key::Id,
    used: Use::WithoutName,
    groups: &[&super::runtime_gc::EVENTS, &super::runtime_threads::EVENTS, &super::runtime_code::EVENTS],
    others: None,
};

pub(super) static APP_DOMAIN_FLAGS_MAP: ValueMap = ValueMap {
    name: "AppDomainFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "Default"),
        (0x2, "Executable"),
        (0x4, "Shared"),
    ],
};

pub(super) static ASSEMBLY_FLAGS_MAP: ValueMap = ValueMap {
    name: "AssemblyFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "DomainNeutral"),
        (0x2, "Dynamic"),
        (0x4, "Native"),
        (0x8, "Collectible"),
        (0x10, "ReadyToRun"),
    ],
};

pub(super) static CONTENTION_FLAGS_MAP: ValueMap = ValueMap {
    name: "ContentionFlagsMap",
    is_bitmap: false,
    entries: &[
        (0, "Managed"),
        (1, "Native"),
    ],
};

pub(super) static EXCEPTION_THROWN_FLAGS_MAP: ValueMap = ValueMap {
    name: "ExceptionThrownFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "HasInnerException"),
        (0x2, "Nested"),
        (0x4, "ReThrown"),
        (0x8, "CorruptedState"),
        (0x10, "CLSCompliant"),
    ],
};

pub(super) static GC_ALLOCATION_KIND_MAP: ValueMap = ValueMap {
    name: "GCAllocationKindMap",
    is_bitmap: false,
    entries: &[
        (0, "Small"),
        (1, "Large"),
        (2, "Pinned"),
    ],
};

pub(super) static GC_BUCKET_KIND_MAP: ValueMap = ValueMap {
    name: "GCBucketKindMap",
    is_bitmap: false,
    entries: &[
        (0, "FLItem"),
        (1, "Plug"),
    ],
};

pub(super) static GC_HANDLE_KIND_MAP: ValueMap = ValueMap {
    name: "GCHandleKindMap",
    is_bitmap: false,
    entries: &[
        (0, "WeakShort"),
        (1, "WeakLong"),
        (2, "Strong"),
        (3, "Pinned"),
        (4, "Variable"),
        (5, "RefCounted"),
        (6, "Dependent"),
        (7, "AsyncPinned"),
        (8, "SizedRef"),
    ],
};

pub(super) static GC_REASON_MAP: ValueMap = ValueMap {
    name: "GCReasonMap",
    is_bitmap: false,
    entries: &[
        (0, "AllocSmall"),
        (1, "Induced"),
        (2, "LowMemory"),
        (3, "Empty"),
        (4, "AllocLarge"),
        (5, "OutOfSpaceSmallObjectHeap"),
        (6, "OutOfSpaceLargeObjectHeap"),
        (7, "InducedNoForce"),
        (8, "Stress"),
        (9, "InducedLowMemory"),
        (10, "InducedCompacting"),
        (11, "LowMemoryHost"),
        (12, "PMFullGC"),
        (13, "LowMemoryHostBlocking"),
        (14, "BgcTuningSOH"),
        (15, "BgcTuningLOH"),
        (16, "BgcStepping"),
        (17, "InducedAggressive"),
    ],
};

pub(super) static GC_ROOT_CCW_FLAGS_MAP: ValueMap = ValueMap {
    name: "GCRootCCWFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "Strong"),
        (0x2, "Pegged"),
    ],
};

pub(super) static GC_ROOT_FLAGS_MAP: ValueMap = ValueMap {
    name: "GCRootFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "Pinning"),
        (0x2, "WeakRef"),
        (0x4, "Interior"),
        (0x8, "RefCounted"),
    ],
};

pub(super) static GC_ROOT_KIND_MAP: ValueMap = ValueMap {
    name: "GCRootKindMap",
    is_bitmap: false,
    entries: &[
        (0, "Stack"),
        (1, "Finalizer"),
        (2, "Handle"),
        (3, "Older"),
        (4, "SizedRef"),
        (5, "Overflow"),
        (6, "DependentHandle"),
        (7, "NewFQ"),
        (8, "Steal"),
        (9, "BGC"),
    ],
};

pub(super) static GC_ROOT_STATIC_VAR_FLAGS_MAP: ValueMap = ValueMap {
    name: "GCRootStaticVarFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "ThreadLocal"),
    ],
};

pub(super) static GC_SEGMENT_TYPE_MAP: ValueMap = ValueMap {
    name: "GCSegmentTypeMap",
    is_bitmap: false,
    entries: &[
        (0, "SmallObjectHeap"),
        (1, "LargeObjectHeap"),
        (2, "ReadOnlyHeap"),
        (3, "PinnedObjectHeap"),
    ],
};

pub(super) static GC_SUSPEND_EE_REASON_MAP: ValueMap = ValueMap {
    name: "GCSuspendEEReasonMap",
    is_bitmap: false,
    entries: &[
        (0, "SuspendOther"),
        (1, "SuspendForGC"),
        (2, "SuspendForAppDomainShutdown"),
        (3, "SuspendForCodePitching"),
        (4, "SuspendForShutdown"),
        (5, "SuspendForDebugger"),
        (6, "SuspendForGCPrep"),
        (7, "SuspendForDebuggerSweep"),
    ],
};

pub(super) static GC_TYPE_MAP: ValueMap = ValueMap {
    name: "GCTypeMap",
    is_bitmap: false,
    entries: &[
        (0, "NonConcurrentGC"),
        (1, "BackgroundGC"),
        (2, "ForegroundGC"),
    ],
};

pub(super) static IL_STUB_GENERATED_FLAGS_MAP: ValueMap = ValueMap {
    name: "ILStubGeneratedFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "ReverseInterop"),
        (0x2, "ComInterop"),
        (0x4, "NGenedStub"),
        (0x8, "Delegate"),
        (0x10, "VarArg"),
        (0x20, "UnmanagedCallee"),
        (0x40, "StructMarshal"),
    ],
};

pub(super) static KNOWN_PATH_SOURCE_MAP: ValueMap = ValueMap {
    name: "KnownPathSourceMap",
    is_bitmap: false,
    entries: &[
        (0, "ApplicationAssemblies"),
        (1, "Unused"),
        (2, "AppPaths"),
        (3, "PlatformResourceRoots"),
        (4, "SatelliteSubdirectory"),
    ],
};

pub(super) static METHOD_FLAGS_MAP: ValueMap = ValueMap {
    name: "MethodFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "Dynamic"),
        (0x2, "Generic"),
        (0x4, "HasSharedGenericCode"),
        (0x8, "Jitted"),
        (0x10, "JitHelper"),
        (0x20, "ProfilerRejectedPrecompiledCode"),
        (0x40, "ReadyToRunRejectedPrecompiledCode"),
    ],
};

pub(super) static MODULE_FLAGS_MAP: ValueMap = ValueMap {
    name: "ModuleFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "DomainNeutral"),
        (0x2, "Native"),
        (0x4, "Dynamic"),
        (0x8, "Manifest"),
        (0x10, "IbcOptimized"),
        (0x20, "ReadyToRunModule"),
        (0x40, "PartialReadyToRunModule"),
    ],
};

pub(super) static MODULE_RANGE_TYPE_MAP: ValueMap = ValueMap {
    name: "ModuleRangeTypeMap",
    is_bitmap: true,
    entries: &[
        (0x4, "ColdRange"),
    ],
};

pub(super) static RESOLUTION_ATTEMPTED_RESULT_MAP: ValueMap = ValueMap {
    name: "ResolutionAttemptedResultMap",
    is_bitmap: false,
    entries: &[
        (0, "Success"),
        (1, "AssemblyNotFound"),
        (2, "MismatchedAssemblyName"),
        (3, "IncompatibleVersion"),
        (4, "Failure"),
        (5, "Exception"),
    ],
};

pub(super) static RESOLUTION_ATTEMPTED_STAGE_MAP: ValueMap = ValueMap {
    name: "ResolutionAttemptedStageMap",
    is_bitmap: false,
    entries: &[
        (0, "FindInLoadContext"),
        (1, "AssemblyLoadContextLoad"),
        (2, "ApplicationAssemblies"),
        (3, "DefaultAssemblyLoadContextFallback"),
        (4, "ResolveSatelliteAssembly"),
        (5, "AssemblyLoadContextResolvingEvent"),
        (6, "AppDomainAssemblyResolveEvent"),
    ],
};

pub(super) static RUNTIME_SKU_MAP: ValueMap = ValueMap {
    name: "RuntimeSkuMap",
    is_bitmap: true,
    entries: &[
        (0x1, "DesktopClr"),
        (0x2, "CoreClr"),
        (0x4, "Mono"),
    ],
};

pub(super) static STARTUP_FLAGS_MAP: ValueMap = ValueMap {
    name: "StartupFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "CONCURRENT_GC"),
        (0x2, "LOADER_OPTIMIZATION_SINGLE_DOMAIN"),
        (0x4, "LOADER_OPTIMIZATION_MULTI_DOMAIN"),
        (0x10, "LOADER_SAFEMODE"),
        (0x100, "LOADER_SETPREFERENCE"),
        (0x1000, "SERVER_GC"),
        (0x2000, "HOARD_GC_VM"),
        (0x4000, "SINGLE_VERSION_HOSTING_INTERFACE"),
        (0x10000, "LEGACY_IMPERSONATION"),
        (0x20000, "DISABLE_COMMITTHREADSTACK"),
        (0x40000, "ALWAYSFLOW_IMPERSONATION"),
        (0x80000, "TRIM_GC_COMMIT"),
        (0x100000, "ETW"),
        (0x200000, "SERVER_BUILD"),
        (0x400000, "ARM"),
    ],
};

pub(super) static STARTUP_MODE_MAP: ValueMap = ValueMap {
    name: "StartupModeMap",
    is_bitmap: true,
    entries: &[
        (0x1, "ManagedExe"),
        (0x2, "HostedClr"),
        (0x4, "IjwDll"),
        (0x8, "ComActivated"),
        (0x10, "Other"),
    ],
};

pub(super) static TAIL_CALL_TYPE_MAP: ValueMap = ValueMap {
    name: "TailCallTypeMap",
    is_bitmap: false,
    entries: &[
        (0, "OptimizedTailCall"),
        (1, "RecursiveLoop"),
        (2, "HelperAssistedTailCall"),
    ],
};

pub(super) static THREAD_ADJUSTMENT_REASON_MAP: ValueMap = ValueMap {
    name: "ThreadAdjustmentReasonMap",
    is_bitmap: false,
    entries: &[
        (0, "Warmup"),
        (1, "Initializing"),
        (2, "RandomMove"),
        (3, "ClimbingMove"),
        (4, "ChangePoint"),
        (5, "Stabilizing"),
        (6, "Starvation"),
        (7, "ThreadTimedOut"),
        (8, "CooperativeBlocking"),
    ],
};

pub(super) static THREAD_FLAGS_MAP: ValueMap = ValueMap {
    name: "ThreadFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "GCSpecial"),
        (0x2, "Finalizer"),
        (0x4, "ThreadPoolWorker"),
    ],
};

pub(super) static TIERED_COMPILATION_SETTINGS_FLAGS_MAP: ValueMap = ValueMap {
    name: "TieredCompilationSettingsFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x0, "None"),
        (0x1, "QuickJit"),
        (0x2, "QuickJitForLoops"),
        (0x4, "TieredPGO"),
        (0x8, "ReadyToRun"),
    ],
};

pub(super) static TYPE_FLAGS_MAP: ValueMap = ValueMap {
    name: "TypeFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "Delegate"),
        (0x2, "Finalizable"),
        (0x4, "ExternallyImplementedCOMObject"),
        (0x8, "Array"),
        (0x10, "ModuleBaseAddress"),
        (0x100, "ArrayRankBit0"),
        (0x200, "ArrayRankBit1"),
        (0x400, "ArrayRankBit2"),
        (0x800, "ArrayRankBit3"),
        (0x1000, "ArrayRankBit4"),
        (0x2000, "ArrayRankBit5"),
    ],
};

pub(super) static WAIT_HANDLE_WAIT_SOURCE_MAP: ValueMap = ValueMap {
    name: "WaitHandleWaitSourceMap",
    is_bitmap: false,
    entries: &[
        (0, "Unknown"),
        (1, "MonitorWait"),
    ],
};

