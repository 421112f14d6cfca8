//! Microsoft-Windows-DotNETRuntimeRundown: provider, value names, events.
//!
//! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by
//! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes
//! whose payloads were read by this row.

use crate::catalog::event::{CatalogEvent, event, sent};
use crate::catalog::provider::{CatalogProvider, Key, Use};
use crate::catalog::row::{guid, i64, pointer, u16, u32, u64, u8, utf16};
use crate::schema::ValueMap;
use nettrace_guid::Guid;

pub(super) const NAME: &str = "Microsoft-Windows-DotNETRuntimeRundown";

pub(super) static PROVIDER: CatalogProvider = CatalogProvider {
    name: NAME,
    // a669021c-c450-4609-a035-5af59af4df18
    guid: Some(Guid::from_bytes([
        0x1c, 0x02, 0x69, 0xa6, 0x50, 0xc4, 0x09, 0x46, 0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf, 0x18,
    ])),
    keywords: &[
        (0x1, "GCRundownKeyword"),
        (0x8, "LoaderRundownKeyword"),
        (0x10, "JitRundownKeyword"),
        (0x20, "NGenRundownKeyword"),
        (0x40, "StartRundownKeyword"),
        (0x100, "EndRundownKeyword"),
        (0x800, "AppDomainResourceManagementRundownKeyword"),
        (0x10000, "ThreadingKeyword"),
        (0x20000, "JittedMethodILToNativeMapRundownKeyword"),
        (0x40000, "OverrideAndSuppressNGenEventsRundownKeyword"),
        (0x20000000, "PerfTrackRundownKeyword"),
        (0x40000000, "StackKeyword"),
        (0x1000000000, "CompilationKeyword"),
    ],
    key: Key::Id,
    used: Use::WithoutName,
    groups: &[&EVENTS],
    others: None,
};

static APP_DOMAIN_FLAGS_MAP: ValueMap = ValueMap {
    name: "AppDomainFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "Default"),
        (0x2, "Executable"),
        (0x4, "Shared"),
    ],
};

static ASSEMBLY_FLAGS_MAP: ValueMap = ValueMap {
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

static METHOD_FLAGS_MAP: ValueMap = ValueMap {
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

static MODULE_FLAGS_MAP: ValueMap = ValueMap {
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

static MODULE_RANGE_TYPE_MAP: ValueMap = ValueMap {
    name: "ModuleRangeTypeMap",
    is_bitmap: true,
    entries: &[
        (0x4, "ColdRange"),
    ],
};

static RUNTIME_SKU_MAP: ValueMap = ValueMap {
    name: "RuntimeSkuMap",
    is_bitmap: true,
    entries: &[
        (0x1, "DesktopClr"),
        (0x2, "CoreClr"),
        (0x4, "Mono"),
    ],
};

static STARTUP_FLAGS_MAP: ValueMap = ValueMap {
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

static STARTUP_MODE_MAP: ValueMap = ValueMap {
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

static THREAD_FLAGS_MAP: ValueMap = ValueMap {
    name: "ThreadFlagsMap",
    is_bitmap: true,
    entries: &[
        (0x1, "GCSpecial"),
        (0x2, "Finalizer"),
        (0x4, "ThreadPoolWorker"),
    ],
};

static TIERED_COMPILATION_SETTINGS_FLAGS_MAP: ValueMap = ValueMap {
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

pub(super) static EVENTS: [CatalogEvent; 51] = [
    // as CLRStackWalk
    event(NAME, 0, 0, "CLRStackWalkDCStart", "ClrStack/Walk", sent("CLRStackRundown", 82, 0, 0x40000000), &[
        u16("ClrInstanceID"), u8("Reserved1"), u8("Reserved2"), u32("FrameCount").kept(0),
        pointer("Stack").times(0),
    ]), // since 2.1
    event(NAME, 10, 0, "GCSettingsRundown", "GC/SettingsRundown", sent("CLRGCRundown", 10, 4, 0x0), &[
        u64("HardLimit"), u64("LOHThreshold"), u64("PhysicalMemoryConfig"),
        u64("Gen0MinBudgetConfig").bytes(), u64("Gen0MaxBudgetConfig").bytes(), u32("HighMemPercentConfig"),
        u32("BitSettings"), u16("ClrInstanceID"),
    ]), // since 5.0+; seen 8.0 9.0 10.0
    event(NAME, 141, 0, "MethodDCStart", "Method/DCStart", sent("CLRMethodRundown", 35, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").bytes(), u32("MethodToken"), u32("MethodFlags").named(&METHOD_FLAGS_MAP),
    ]), // since 2.1
    event(NAME, 141, 1, "MethodDCStart_V1", "Method/DCStart", sent("CLRMethodRundown", 35, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 141, 2, "MethodDCStart_V2", "Method/DCStart", sent("CLRMethodRundown", 35, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), u16("ClrInstanceID"), u64("ReJITID").hex(),
    ]), // since 2.1
    event(NAME, 142, 0, "MethodDCEnd", "Method/DCStop", sent("CLRMethodRundown", 36, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").bytes(), u32("MethodToken"), u32("MethodFlags").named(&METHOD_FLAGS_MAP),
    ]), // since 2.1
    event(NAME, 142, 1, "MethodDCEnd_V1", "Method/DCStop", sent("CLRMethodRundown", 36, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 142, 2, "MethodDCEnd_V2", "Method/DCStop", sent("CLRMethodRundown", 36, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), u16("ClrInstanceID"), u64("ReJITID").hex(),
    ]), // since 2.1
    event(NAME, 143, 0, "MethodDCStartVerbose", "Method/DCStartVerbose", sent("CLRMethodRundown", 39, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"),
    ]), // since 2.1
    event(NAME, 143, 1, "MethodDCStartVerbose_V1", "Method/DCStartVerbose", sent("CLRMethodRundown", 39, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 143, 2, "MethodDCStartVerbose_V2", "Method/DCStartVerbose", sent("CLRMethodRundown", 39, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"), u16("ClrInstanceID"), u64("ReJITID").hex(),
    ]), // since 2.1
    event(NAME, 144, 0, "MethodDCEndVerbose", "Method/DCStopVerbose", sent("CLRMethodRundown", 40, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"),
    ]), // since 2.1
    event(NAME, 144, 1, "MethodDCEndVerbose_V1", "Method/DCStopVerbose", sent("CLRMethodRundown", 40, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.1-arm32 3.1 5.0-mac 5.0-win 8.0 9.0 10.0
    event(NAME, 144, 2, "MethodDCEndVerbose_V2", "Method/DCStopVerbose", sent("CLRMethodRundown", 40, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"), u16("ClrInstanceID"), u64("ReJITID").hex(),
    ]), // since 2.1; seen 3.1 5.0-mac 8.0 9.0 10.0
    event(NAME, 145, 0, "DCStartComplete", "Method/DCStartComplete", sent("CLRMethodRundown", 14, 4, 0x20038), &[]), // since 2.1
    event(NAME, 145, 1, "DCStartComplete_V1", "Method/DCStartComplete", sent("CLRMethodRundown", 14, 4, 0x20038), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 146, 0, "DCEndComplete", "Method/DCStopComplete", sent("CLRMethodRundown", 15, 4, 0x20038), &[]), // since 2.1
    event(NAME, 146, 1, "DCEndComplete_V1", "Method/DCStopComplete", sent("CLRMethodRundown", 15, 4, 0x20038), &[
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.1-arm32 3.1 5.0-mac 5.0-win 8.0 9.0 10.0
    event(NAME, 147, 0, "DCStartInit", "Method/DCStartInit", sent("CLRMethodRundown", 16, 4, 0x20038), &[]), // since 2.1
    event(NAME, 147, 1, "DCStartInit_V1", "Method/DCStartInit", sent("CLRMethodRundown", 16, 4, 0x20038), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 148, 0, "DCEndInit", "Method/DCStopInit", sent("CLRMethodRundown", 17, 4, 0x20038), &[]), // since 2.1
    event(NAME, 148, 1, "DCEndInit_V1", "Method/DCStopInit", sent("CLRMethodRundown", 17, 4, 0x20038), &[
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.1-arm32 3.1 5.0-mac 5.0-win 8.0 9.0 10.0
    event(NAME, 149, 0, "MethodDCStartILToNativeMap", "Method/ILToNativeMapDCStart", sent("CLRMethodRundown", 41, 5, 0x20000), &[
        u64("MethodID").hex(), u64("ReJITID").hex(), u8("MethodExtent"), u16("CountOfMapEntries").kept(0),
        u32("ILOffsets").times(0), u32("NativeOffsets").times(0), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 149, 1, "MethodDCStartILToNativeMap_V1", "Method/ILToNativeMapDCStart", sent("CLRMethodRundown", 41, 5, 0x20000), &[
        u64("MethodID").hex(), u64("ReJITID").hex(), u8("MethodExtent"), u16("CountOfMapEntries").kept(0),
        u32("ILOffsets").times(0), u32("NativeOffsets").times(0), u16("ClrInstanceID"), u64("ILVersionID"),
    ]), // since 5.0+
    event(NAME, 150, 0, "MethodDCEndILToNativeMap", "Method/ILToNativeMapDCStop", sent("CLRMethodRundown", 42, 5, 0x20000), &[
        u64("MethodID").hex(), u64("ReJITID").hex(), u8("MethodExtent"), u16("CountOfMapEntries").kept(0),
        u32("ILOffsets").times(0), u32("NativeOffsets").times(0), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.1-arm32 3.1 5.0-mac 5.0-win
    event(NAME, 150, 1, "MethodDCEndILToNativeMap_V1", "Method/ILToNativeMapDCStop", sent("CLRMethodRundown", 42, 5, 0x20000), &[
        u64("MethodID").hex(), u64("ReJITID").hex(), u8("MethodExtent"), u16("CountOfMapEntries").kept(0),
        u32("ILOffsets").times(0), u32("NativeOffsets").times(0), u16("ClrInstanceID"), u64("ILVersionID"),
    ]), // since 5.0+; seen 8.0 9.0 10.0
    event(NAME, 151, 0, "DomainModuleDCStart", "Loader/DomainModuleDCStart", sent("CLRLoaderRundown", 46, 4, 0x8), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u64("AppDomainID").hex(),
        u32("ModuleFlags").named(&MODULE_FLAGS_MAP), u32("Reserved1"), utf16("ModuleILPath"),
        utf16("ModuleNativePath"),
    ]), // since 2.1
    event(NAME, 151, 1, "DomainModuleDCStart_V1", "Loader/DomainModuleDCStart", sent("CLRLoaderRundown", 46, 4, 0x8), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u64("AppDomainID").hex(),
        u32("ModuleFlags").named(&MODULE_FLAGS_MAP), u32("Reserved1"), utf16("ModuleILPath"),
        utf16("ModuleNativePath"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 152, 0, "DomainModuleDCEnd", "Loader/DomainModuleDCStop", sent("CLRLoaderRundown", 47, 4, 0x8), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u64("AppDomainID").hex(),
        u32("ModuleFlags").named(&MODULE_FLAGS_MAP), u32("Reserved1"), utf16("ModuleILPath"),
        utf16("ModuleNativePath"),
    ]), // since 2.1
    event(NAME, 152, 1, "DomainModuleDCEnd_V1", "Loader/DomainModuleDCStop", sent("CLRLoaderRundown", 47, 4, 0x8), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u64("AppDomainID").hex(),
        u32("ModuleFlags").named(&MODULE_FLAGS_MAP), u32("Reserved1"), utf16("ModuleILPath"),
        utf16("ModuleNativePath"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.1-arm32 3.1 5.0-mac 5.0-win 8.0 9.0 10.0
    event(NAME, 153, 0, "ModuleDCStart", "Loader/ModuleDCStart", sent("CLRLoaderRundown", 35, 4, 0x8), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"),
    ]), // since 2.1
    event(NAME, 153, 1, "ModuleDCStart_V1", "Loader/ModuleDCStart", sent("CLRLoaderRundown", 35, 4, 0x20000008), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 153, 2, "ModuleDCStart_V2", "Loader/ModuleDCStart", sent("CLRLoaderRundown", 35, 4, 0x20000008), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"), u16("ClrInstanceID"),
        guid("ManagedPdbSignature"), u32("ManagedPdbAge"), utf16("ManagedPdbBuildPath"),
        guid("NativePdbSignature"), u32("NativePdbAge"), utf16("NativePdbBuildPath"),
    ]), // since 2.1
    event(NAME, 154, 0, "ModuleDCEnd", "Loader/ModuleDCStop", sent("CLRLoaderRundown", 36, 4, 0x8), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"),
    ]), // since 2.1
    event(NAME, 154, 1, "ModuleDCEnd_V1", "Loader/ModuleDCStop", sent("CLRLoaderRundown", 36, 4, 0x20000008), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 154, 2, "ModuleDCEnd_V2", "Loader/ModuleDCStop", sent("CLRLoaderRundown", 36, 4, 0x20000008), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"), u16("ClrInstanceID"),
        guid("ManagedPdbSignature"), u32("ManagedPdbAge"), utf16("ManagedPdbBuildPath"),
        guid("NativePdbSignature"), u32("NativePdbAge"), utf16("NativePdbBuildPath"),
    ]), // since 2.1; seen 3.1-arm32 3.1 5.0-mac 5.0-win 8.0 9.0 10.0
    event(NAME, 154, 3, "ModuleDCEnd_V3", "Loader/ModuleDCStop", sent("CLRLoaderRundown", 36, 4, 0x20000008), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"), u16("ClrInstanceID"),
        guid("ManagedPdbSignature"), u32("ManagedPdbAge"), utf16("ManagedPdbBuildPath"),
        guid("NativePdbSignature"), u32("NativePdbAge"), utf16("NativePdbBuildPath"), utf16("NativeBuildID"),
    ]), // since 5.0+
    event(NAME, 155, 0, "AssemblyDCStart", "Loader/AssemblyDCStart", sent("CLRLoaderRundown", 39, 4, 0x8), &[
        u64("AssemblyID").hex(), u64("AppDomainID").hex(), u32("AssemblyFlags").named(&ASSEMBLY_FLAGS_MAP),
        utf16("FullyQualifiedAssemblyName"),
    ]), // since 2.1
    event(NAME, 155, 1, "AssemblyDCStart_V1", "Loader/AssemblyDCStart", sent("CLRLoaderRundown", 39, 4, 0x8), &[
        u64("AssemblyID").hex(), u64("AppDomainID").hex(), u64("BindingID").hex(),
        u32("AssemblyFlags").named(&ASSEMBLY_FLAGS_MAP), utf16("FullyQualifiedAssemblyName"),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 156, 0, "AssemblyDCEnd", "Loader/AssemblyDCStop", sent("CLRLoaderRundown", 40, 4, 0x8), &[
        u64("AssemblyID").hex(), u64("AppDomainID").hex(), u32("AssemblyFlags").named(&ASSEMBLY_FLAGS_MAP),
        utf16("FullyQualifiedAssemblyName"),
    ]), // since 2.1
    event(NAME, 156, 1, "AssemblyDCEnd_V1", "Loader/AssemblyDCStop", sent("CLRLoaderRundown", 40, 4, 0x8), &[
        u64("AssemblyID").hex(), u64("AppDomainID").hex(), u64("BindingID").hex(),
        u32("AssemblyFlags").named(&ASSEMBLY_FLAGS_MAP), utf16("FullyQualifiedAssemblyName"),
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.1-arm32 3.1 5.0-mac 5.0-win 8.0 9.0 10.0
    event(NAME, 157, 0, "AppDomainDCStart", "Loader/AppDomainDCStart", sent("CLRLoaderRundown", 43, 4, 0x8), &[
        u64("AppDomainID").hex(), u32("AppDomainFlags").named(&APP_DOMAIN_FLAGS_MAP), utf16("AppDomainName"),
    ]), // since 2.1
    event(NAME, 157, 1, "AppDomainDCStart_V1", "Loader/AppDomainDCStart", sent("CLRLoaderRundown", 43, 4, 0x8), &[
        u64("AppDomainID").hex(), u32("AppDomainFlags").named(&APP_DOMAIN_FLAGS_MAP), utf16("AppDomainName"),
        u32("AppDomainIndex"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 158, 0, "AppDomainDCEnd", "Loader/AppDomainDCStop", sent("CLRLoaderRundown", 44, 4, 0x8), &[
        u64("AppDomainID").hex(), u32("AppDomainFlags").named(&APP_DOMAIN_FLAGS_MAP), utf16("AppDomainName"),
    ]), // since 2.1
    event(NAME, 158, 1, "AppDomainDCEnd_V1", "Loader/AppDomainDCStop", sent("CLRLoaderRundown", 44, 4, 0x8), &[
        u64("AppDomainID").hex(), u32("AppDomainFlags").named(&APP_DOMAIN_FLAGS_MAP), utf16("AppDomainName"),
        u32("AppDomainIndex"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.1-arm32 3.1 5.0-mac 5.0-win 8.0 9.0 10.0
    event(NAME, 159, 0, "ThreadDC", "Loader/ThreadDCStop", sent("CLRLoaderRundown", 48, 4, 0x10800), &[
        u64("ManagedThreadID").hex(), u64("AppDomainID").hex(), u32("Flags").named(&THREAD_FLAGS_MAP),
        u32("ManagedThreadIndex"), u32("OSThreadID"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 160, 0, "ModuleRangeDCStart", "ClrPerfTrack/ModuleRangeDCStart", sent("CLRPerfTrackRundown", 10, 4, 0x20000000), &[
        u16("ClrInstanceID"), u64("ModuleID").hex(), u32("RangeBegin").hex(), u32("RangeSize").hex(),
        u8("RangeType").named(&MODULE_RANGE_TYPE_MAP),
    ]), // since 2.1
    event(NAME, 161, 0, "ModuleRangeDCEnd", "ClrPerfTrack/ModuleRangeDCEnd", sent("CLRPerfTrackRundown", 11, 4, 0x20000000), &[
        u16("ClrInstanceID"), u64("ModuleID").hex(), u32("RangeBegin").hex(), u32("RangeSize").hex(),
        u8("RangeType").named(&MODULE_RANGE_TYPE_MAP),
    ]), // since 2.1
    event(NAME, 187, 0, "RuntimeInformationDCStart", "Runtime/Start", sent("CLRRuntimeInformationRundown", 1, 4, 0x0), &[
        u16("ClrInstanceID"), u16("Sku").named(&RUNTIME_SKU_MAP), u16("BclMajorVersion"),
        u16("BclMinorVersion"), u16("BclBuildNumber"), u16("BclQfeNumber"), u16("VMMajorVersion"),
        u16("VMMinorVersion"), u16("VMBuildNumber"), u16("VMQfeNumber"),
        u32("StartupFlags").named(&STARTUP_FLAGS_MAP), u8("StartupMode").named(&STARTUP_MODE_MAP),
        utf16("CommandLine"), guid("ComObjectGuid"), utf16("RuntimeDllPath"),
    ]), // since 2.1; seen 3.1-arm32 3.1 5.0-mac 5.0-win 8.0 9.0 10.0
    event(NAME, 280, 0, "TieredCompilationSettingsDCStart", "TieredCompilationRundown/SettingsDCStart", sent("TieredCompilationRundown", 11, 4, 0x1000000000), &[
        u16("ClrInstanceID"), u32("Flags").hex().named(&TIERED_COMPILATION_SETTINGS_FLAGS_MAP),
    ]), // since 3.1
    event(NAME, 300, 0, "ExecutionCheckpointDCEnd", "ExecutionCheckpointRundown/ExecutionCheckpointDCEnd", sent("ExecutionCheckpointRundown", 11, 4, 0x0), &[
        u16("ClrInstanceID"), utf16("Name"), i64("Timestamp"),
    ]), // since 5.0+; seen 6.0p-win
];
