//! Microsoft-Windows-DotNETRuntimePrivate: provider, value names, events.
//!
//! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by
//! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes
//! whose payloads were read by this row.

use crate::catalog::event::{CatalogEvent, event, sent};
use crate::catalog::provider::{CatalogProvider, Key, Use};
use crate::catalog::row::{ansi, boolean32, i32, pointer, u16, u32, u64, u8, utf16};
use crate::schema::ValueMap;
use nettrace_guid::Guid;

pub(super) const NAME: &str = "Microsoft-Windows-DotNETRuntimePrivate";

pub(super) static PROVIDER: CatalogProvider = CatalogProvider {
    name: NAME,
    // 763fd754-7086-4dfe-95eb-c01a46faf4ca
    guid: Some(Guid::from_bytes([
        0x54, 0xd7, 0x3f, 0x76, 0x86, 0x70, 0xfe, 0x4d, 0x95, 0xeb, 0xc0, 0x1a, 0x46, 0xfa, 0xf4, 0xca,
    ])),
    keywords: &[
        (0x1, "GCPrivateKeyword"),
        (0x2, "BindingKeyword"),
        (0x4, "NGenForceRestoreKeyword"),
        (0x8, "PrivateFusionKeyword"),
        (0x10, "LoaderHeapPrivateKeyword"),
        (0x20, "DynamicTypeUsageKeyword"),
        (0x400, "SecurityPrivateKeyword"),
        (0x2000, "InteropPrivateKeyword"),
        (0x4000, "GCHandlePrivateKeyword"),
        (0x20000, "MulticoreJitPrivateKeyword"),
        (0x40000, "JittedMethodRichDebugInfoKeyword"),
        (0x20000000, "PerfTrackPrivateKeyword"),
        (0x40000000, "StackKeyword"),
        (0x80000000, "StartupKeyword"),
    ],
    key: Key::Id,
    used: Use::WithoutName,
    groups: &[&EVENTS],
    others: None,
};

static GC_HANDLE_KIND_MAP: ValueMap = ValueMap {
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

static MODULE_RANGE_IBC_TYPE_MAP: ValueMap = ValueMap {
    name: "ModuleRangeIBCTypeMap",
    is_bitmap: true,
    entries: &[
        (0x1, "IBCUnprofiledSection"),
        (0x2, "IBCProfiledSection"),
    ],
};

static MODULE_RANGE_SECTION_TYPE_MAP: ValueMap = ValueMap {
    name: "ModuleRangeSectionTypeMap",
    is_bitmap: false,
    entries: &[
        (1, "ModuleSection"),
        (2, "EETableSection"),
        (3, "WriteDataSection"),
        (4, "WriteableDataSection"),
        (5, "DataSection"),
        (6, "RVAStaticsSection"),
        (7, "EEDataSection"),
        (8, "DelayLoadInfoTableEagerSection"),
        (9, "DelayLoadInfoTableSection"),
        (10, "EEReadonlyData"),
        (11, "ReadonlyData"),
        (12, "ClassSection"),
        (13, "CrossDomainInfoSection"),
        (14, "MethodDescSection"),
        (15, "MethodDescWriteableSection"),
        (16, "ExceptionSection"),
        (17, "InstrumentSection"),
        (18, "VirtualImportThunkSection"),
        (19, "ExternalMethodThunkSection"),
        (20, "HelperTableSection"),
        (21, "MethodPrecodeWriteableSection"),
        (22, "MethodPrecodeWriteSection"),
        (23, "MethodPrecodeSection"),
        (24, "Win32ResourcesSection"),
        (25, "HeaderSection"),
        (26, "MetadataSection"),
        (27, "DelayLoadInfoSection"),
        (28, "ImportTableSection"),
        (29, "CodeSection"),
        (30, "CodeHeaderSection"),
        (31, "CodeManagerSection"),
        (32, "UnwindDataSection"),
        (33, "RuntimeFunctionSection"),
        (34, "StubsSection"),
        (35, "StubDispatchDataSection"),
        (36, "ExternalMethodDataSection"),
        (37, "DelayLoadInfoDelayListSection"),
        (38, "ReadonlySharedSection"),
        (39, "ReadonlySection"),
        (40, "ILSection"),
        (41, "GCInfoSection"),
        (42, "ILMetadataSection"),
        (43, "ResourcesSection"),
        (44, "CompressedMapsSection"),
        (45, "DebugSection"),
        (46, "BaseRelocsSection"),
    ],
};

static MODULE_RANGE_TYPE_MAP: ValueMap = ValueMap {
    name: "ModuleRangeTypeMap",
    is_bitmap: true,
    entries: &[
        (0x1, "HotRange"),
        (0x2, "WarmRange"),
        (0x4, "ColdRange"),
        (0x8, "HotColdSortedRange"),
    ],
};

pub(super) static EVENTS: [CatalogEvent; 185] = [
    event(NAME, 1, 0, "GCDecision", "GC/Decision", sent("GarbageCollectionPrivate", 132, 4, 0x1), &[
        boolean32("DoCompact"),
    ]), // since 2.1
    event(NAME, 1, 1, "GCDecision_V1", "GC/Decision", sent("GarbageCollectionPrivate", 132, 4, 0x1), &[
        boolean32("DoCompact"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 2, 0, "GCSettings", "GC/Settings", sent("GarbageCollectionPrivate", 14, 4, 0x1), &[
        u64("SegmentSize").bytes(), u64("LargeObjectSegmentSize").bytes(), boolean32("ServerGC"),
    ]), // since 2.1
    event(NAME, 2, 1, "GCSettings_V1", "GC/Settings", sent("GarbageCollectionPrivate", 14, 4, 0x1), &[
        u64("SegmentSize").bytes(), u64("LargeObjectSegmentSize").bytes(), boolean32("ServerGC"),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 3, 0, "GCOptimized", "GC/Optimized", sent("GarbageCollectionPrivate", 16, 5, 0x1), &[
        u64("DesiredAllocation").hex(), u64("NewAllocation").hex(), u32("GenerationNumber"),
    ]), // since 2.1
    event(NAME, 3, 1, "GCOptimized_V1", "GC/Optimized", sent("GarbageCollectionPrivate", 16, 5, 0x1), &[
        u64("DesiredAllocation").hex(), u64("NewAllocation").hex(), u32("GenerationNumber"),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 4, 1, "GCPerHeapHistory_V1", "GC/PerHeapHistory", sent("GarbageCollectionPrivate", 17, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 4, 2, "GCPerHeapHistory", "GC/PerHeapHistory", sent("GarbageCollectionPrivate", 17, 4, 0x1), &[]), // since 2.1
    event(NAME, 5, 0, "GCGlobalHeapHistory", "GC/GlobalHeapHistory", sent("GarbageCollectionPrivate", 18, 4, 0x1), &[
        u64("FinalYoungestDesired").hex(), i32("NumHeaps"), u32("CondemnedGeneration"),
        u32("Gen0ReductionCount"), u32("Reason"), u32("GlobalMechanisms"),
    ]), // since 2.1
    event(NAME, 5, 1, "GCGlobalHeapHistory_V1", "GC/GlobalHeapHistory", sent("GarbageCollectionPrivate", 18, 4, 0x1), &[
        u64("FinalYoungestDesired").hex(), i32("NumHeaps"), u32("CondemnedGeneration"),
        u32("Gen0ReductionCount"), u32("Reason"), u32("GlobalMechanisms"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 6, 0, "GCJoin", "GC/Join", sent("GarbageCollectionPrivate", 20, 5, 0x1), &[
        u32("Heap"), u32("JoinTime"), u32("JoinType"),
    ]), // since 2.1
    event(NAME, 6, 1, "GCJoin_V1", "GC/Join", sent("GarbageCollectionPrivate", 20, 5, 0x1), &[
        u32("Heap"), u32("JoinTime"), u32("JoinType"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 7, 0, "PrvGCMarkStackRoots", "GC/MarkStackRoots", sent("GarbageCollectionPrivate", 21, 4, 0x1), &[
        u32("HeapNum"),
    ]), // since 2.1
    event(NAME, 7, 1, "PrvGCMarkStackRoots_V1", "GC/MarkStackRoots", sent("GarbageCollectionPrivate", 21, 4, 0x1), &[
        u32("HeapNum"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 8, 0, "PrvGCMarkFinalizeQueueRoots", "GC/MarkFinalizeQueueRoots", sent("GarbageCollectionPrivate", 22, 4, 0x1), &[
        u32("HeapNum"),
    ]), // since 2.1
    event(NAME, 8, 1, "PrvGCMarkFinalizeQueueRoots_V1", "GC/MarkFinalizeQueueRoots", sent("GarbageCollectionPrivate", 22, 4, 0x1), &[
        u32("HeapNum"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 9, 0, "PrvGCMarkHandles", "GC/MarkHandles", sent("GarbageCollectionPrivate", 23, 4, 0x1), &[
        u32("HeapNum"),
    ]), // since 2.1
    event(NAME, 9, 1, "PrvGCMarkHandles_V1", "GC/MarkHandles", sent("GarbageCollectionPrivate", 23, 4, 0x1), &[
        u32("HeapNum"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 10, 0, "PrvGCMarkCards", "GC/MarkCards", sent("GarbageCollectionPrivate", 24, 4, 0x1), &[
        u32("HeapNum"),
    ]), // since 2.1
    event(NAME, 10, 1, "PrvGCMarkCards_V1", "GC/MarkCards", sent("GarbageCollectionPrivate", 24, 4, 0x1), &[
        u32("HeapNum"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 11, 0, "BGCBegin", "GC/BGCStart", sent("GarbageCollectionPrivate", 25, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 12, 0, "BGC1stNonConEnd", "GC/BGC1stNonCondStop", sent("GarbageCollectionPrivate", 26, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 13, 0, "BGC1stConEnd", "GC/BGC1stConStop", sent("GarbageCollectionPrivate", 27, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 14, 0, "BGC2ndNonConBegin", "GC/BGC2ndNonConStart", sent("GarbageCollectionPrivate", 28, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 15, 0, "BGC2ndNonConEnd", "GC/BGC2ndNonConStop", sent("GarbageCollectionPrivate", 29, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 16, 0, "BGC2ndConBegin", "GC/BGC2ndConStart", sent("GarbageCollectionPrivate", 30, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 17, 0, "BGC2ndConEnd", "GC/BGC2ndConStop", sent("GarbageCollectionPrivate", 31, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 18, 0, "BGCPlanEnd", "GC/BGCPlanStop", sent("GarbageCollectionPrivate", 32, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 19, 0, "BGCSweepEnd", "GC/BGCSweepStop", sent("GarbageCollectionPrivate", 33, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 20, 0, "BGCDrainMark", "GC/BGCDrainMark", sent("GarbageCollectionPrivate", 34, 4, 0x1), &[
        u64("Objects"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 21, 0, "BGCRevisit", "GC/BGCRevisit", sent("GarbageCollectionPrivate", 35, 4, 0x1), &[
        u64("Pages"), u64("Objects"), u32("IsLarge"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 22, 0, "BGCOverflow", "GC/BGCOverflow", sent("GarbageCollectionPrivate", 36, 4, 0x1), &[
        u64("Min"), u64("Max"), u64("Objects"), u32("IsLarge"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 22, 1, "BGCOverflow_V1", "GC/BGCOverflow", sent("GarbageCollectionPrivate", 36, 4, 0x1), &[
        u64("Min"), u64("Max"), u64("Objects"), u32("IsLarge"), u16("ClrInstanceID"), u32("GenNumber"),
    ]), // since 5.0+
    event(NAME, 23, 0, "BGCAllocWaitBegin", "GC/BGCAllocWaitStart", sent("GarbageCollectionPrivate", 37, 4, 0x1), &[
        u32("Reason"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 24, 0, "BGCAllocWaitEnd", "GC/BGCAllocWaitStop", sent("GarbageCollectionPrivate", 38, 4, 0x1), &[
        u32("Reason"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 25, 0, "GCFullNotify", "GC/FullNotify", sent("GarbageCollectionPrivate", 19, 4, 0x1), &[
        u32("GenNumber"), u32("IsAlloc"),
    ]), // since 2.1
    event(NAME, 25, 1, "GCFullNotify_V1", "GC/FullNotify", sent("GarbageCollectionPrivate", 19, 4, 0x1), &[
        u32("GenNumber"), u32("IsAlloc"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 26, 0, "BGC1stSweepEnd", "GC/BGC1stSweepEnd", sent("GarbageCollectionPrivate", 45, 4, 0x1), &[
        u32("GenNumber"), u16("ClrInstanceID"),
    ]), // since 3.1
    event(NAME, 80, 0, "EEStartupStart", "Startup/EEStartupStart", sent("Startup", 128, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 80, 1, "EEStartupStart_V1", "Startup/EEStartupStart", sent("Startup", 128, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 81, 0, "EEStartupEnd", "Startup/EEStartupStop", sent("Startup", 129, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 81, 1, "EEStartupEnd_V1", "Startup/EEStartupStop", sent("Startup", 129, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 82, 0, "EEConfigSetup", "Startup/EEConfigSetupStart", sent("Startup", 130, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 82, 1, "EEConfigSetup_V1", "Startup/EEConfigSetupStart", sent("Startup", 130, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 83, 0, "EEConfigSetupEnd", "Startup/EEConfigSetupStop", sent("Startup", 131, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 83, 1, "EEConfigSetupEnd_V1", "Startup/EEConfigSetupStop", sent("Startup", 131, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 84, 0, "LdSysBases", "Startup/LoadSystemBasesStart", sent("Startup", 132, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 84, 1, "LdSysBases_V1", "Startup/LoadSystemBasesStart", sent("Startup", 132, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 85, 0, "LdSysBasesEnd", "Startup/LoadSystemBasesStop", sent("Startup", 133, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 85, 1, "LdSysBasesEnd_V1", "Startup/LoadSystemBasesStop", sent("Startup", 133, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 86, 0, "ExecExe", "Startup/ExecExeStart", sent("Startup", 134, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 86, 1, "ExecExe_V1", "Startup/ExecExeStart", sent("Startup", 134, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 87, 0, "ExecExeEnd", "Startup/ExecExeStop", sent("Startup", 135, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 87, 1, "ExecExeEnd_V1", "Startup/ExecExeStop", sent("Startup", 135, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 88, 0, "Main", "Startup/MainStart", sent("Startup", 136, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 88, 1, "Main_V1", "Startup/MainStart", sent("Startup", 136, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 89, 0, "MainEnd", "Startup/MainStop", sent("Startup", 137, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 89, 1, "MainEnd_V1", "Startup/MainStop", sent("Startup", 137, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 90, 0, "ApplyPolicyStart", "Startup/ApplyPolicyStart", sent("Startup", 10, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 90, 1, "ApplyPolicyStart_V1", "Startup/ApplyPolicyStart", sent("Startup", 10, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 91, 0, "ApplyPolicyEnd", "Startup/ApplyPolicyStop", sent("Startup", 11, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 91, 1, "ApplyPolicyEnd_V1", "Startup/ApplyPolicyStop", sent("Startup", 11, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 92, 0, "LdLibShFolder", "Startup/LdLibShFolderStart", sent("Startup", 12, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 92, 1, "LdLibShFolder_V1", "Startup/LdLibShFolderStart", sent("Startup", 12, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 93, 0, "LdLibShFolderEnd", "Startup/LdLibShFolderStop", sent("Startup", 13, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 93, 1, "LdLibShFolderEnd_V1", "Startup/LdLibShFolderStop", sent("Startup", 13, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 94, 0, "PrestubWorker", "Startup/PrestubWorkerStart", sent("Startup", 14, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 94, 1, "PrestubWorker_V1", "Startup/PrestubWorkerStart", sent("Startup", 14, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 95, 0, "PrestubWorkerEnd", "Startup/PrestubWorkerStop", sent("Startup", 15, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 95, 1, "PrestubWorkerEnd_V1", "Startup/PrestubWorkerStop", sent("Startup", 15, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 96, 0, "GetInstallationStart", "Startup/GetInstallationStart", sent("Startup", 16, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 96, 1, "GetInstallationStart_V1", "Startup/GetInstallationStart", sent("Startup", 16, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 97, 0, "GetInstallationEnd", "Startup/GetInstallationStop", sent("Startup", 17, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 97, 1, "GetInstallationEnd_V1", "Startup/GetInstallationStop", sent("Startup", 17, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 98, 0, "OpenHModule", "Startup/OpenHModuleStart", sent("Startup", 18, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 98, 1, "OpenHModule_V1", "Startup/OpenHModuleStart", sent("Startup", 18, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 99, 0, "OpenHModuleEnd", "Startup/OpenHModuleStop", sent("Startup", 19, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 99, 1, "OpenHModuleEnd_V1", "Startup/OpenHModuleStop", sent("Startup", 19, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 100, 0, "ExplicitBindStart", "Startup/ExplicitBindStart", sent("Startup", 20, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 100, 1, "ExplicitBindStart_V1", "Startup/ExplicitBindStart", sent("Startup", 20, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 101, 0, "ExplicitBindEnd", "Startup/ExplicitBindStop", sent("Startup", 21, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 101, 1, "ExplicitBindEnd_V1", "Startup/ExplicitBindStop", sent("Startup", 21, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 102, 0, "ParseXml", "Startup/ParseXmlStart", sent("Startup", 22, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 102, 1, "ParseXml_V1", "Startup/ParseXmlStart", sent("Startup", 22, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 103, 0, "ParseXmlEnd", "Startup/ParseXmlStop", sent("Startup", 23, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 103, 1, "ParseXmlEnd_V1", "Startup/ParseXmlStop", sent("Startup", 23, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 104, 0, "InitDefaultDomain", "Startup/InitDefaultDomainStart", sent("Startup", 24, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 104, 1, "InitDefaultDomain_V1", "Startup/InitDefaultDomainStart", sent("Startup", 24, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 105, 0, "InitDefaultDomainEnd", "Startup/InitDefaultDomainStop", sent("Startup", 25, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 105, 1, "InitDefaultDomainEnd_V1", "Startup/InitDefaultDomainStop", sent("Startup", 25, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 106, 0, "InitSecurity", "Startup/InitSecurityStart", sent("Startup", 26, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 106, 1, "InitSecurity_V1", "Startup/InitSecurityStart", sent("Startup", 26, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 107, 0, "InitSecurityEnd", "Startup/InitSecurityStop", sent("Startup", 27, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 107, 1, "InitSecurityEnd_V1", "Startup/InitSecurityStop", sent("Startup", 27, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 108, 0, "AllowBindingRedirs", "Startup/AllowBindingRedirsStart", sent("Startup", 28, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 108, 1, "AllowBindingRedirs_V1", "Startup/AllowBindingRedirsStart", sent("Startup", 28, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 109, 0, "AllowBindingRedirsEnd", "Startup/AllowBindingRedirsStop", sent("Startup", 29, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 109, 1, "AllowBindingRedirsEnd_V1", "Startup/AllowBindingRedirsStop", sent("Startup", 29, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 110, 0, "EEConfigSync", "Startup/EEConfigSyncStart", sent("Startup", 30, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 110, 1, "EEConfigSync_V1", "Startup/EEConfigSyncStart", sent("Startup", 30, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 111, 0, "EEConfigSyncEnd", "Startup/EEConfigSyncStop", sent("Startup", 31, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 111, 1, "EEConfigSyncEnd_V1", "Startup/EEConfigSyncStop", sent("Startup", 31, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 112, 0, "FusionBinding", "Startup/BindingStart", sent("Startup", 32, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 112, 1, "FusionBinding_V1", "Startup/BindingStart", sent("Startup", 32, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 113, 0, "FusionBindingEnd", "Startup/BindingStop", sent("Startup", 33, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 113, 1, "FusionBindingEnd_V1", "Startup/BindingStop", sent("Startup", 33, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 114, 0, "LoaderCatchCall", "Startup/LoaderCatchCallStart", sent("Startup", 34, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 114, 1, "LoaderCatchCall_V1", "Startup/LoaderCatchCallStart", sent("Startup", 34, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 115, 0, "LoaderCatchCallEnd", "Startup/LoaderCatchCallStop", sent("Startup", 35, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 115, 1, "LoaderCatchCallEnd_V1", "Startup/LoaderCatchCallStop", sent("Startup", 35, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 116, 0, "FusionInit", "Startup/FusionInitStart", sent("Startup", 36, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 116, 1, "FusionInit_V1", "Startup/FusionInitStart", sent("Startup", 36, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 117, 0, "FusionInitEnd", "Startup/FusionInitStop", sent("Startup", 37, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 117, 1, "FusionInitEnd_V1", "Startup/FusionInitStop", sent("Startup", 37, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 118, 0, "FusionAppCtx", "Startup/FusionAppCtxStart", sent("Startup", 38, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 118, 1, "FusionAppCtx_V1", "Startup/FusionAppCtxStart", sent("Startup", 38, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 119, 0, "FusionAppCtxEnd", "Startup/FusionAppCtxStop", sent("Startup", 39, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 119, 1, "FusionAppCtxEnd_V1", "Startup/FusionAppCtxStop", sent("Startup", 39, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 120, 0, "Fusion2EE", "Startup/Fusion2EEStart", sent("Startup", 40, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 120, 1, "Fusion2EE_V1", "Startup/Fusion2EEStart", sent("Startup", 40, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 121, 0, "Fusion2EEEnd", "Startup/Fusion2EEStop", sent("Startup", 41, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 121, 1, "Fusion2EEEnd_V1", "Startup/Fusion2EEStop", sent("Startup", 41, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 122, 0, "SecurityCatchCall", "Startup/SecurityCatchCallStart", sent("Startup", 42, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 122, 1, "SecurityCatchCall_V1", "Startup/SecurityCatchCallStart", sent("Startup", 42, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 123, 0, "SecurityCatchCallEnd", "Startup/SecurityCatchCallStop", sent("Startup", 43, 4, 0x80000000), &[]), // since 2.1
    event(NAME, 123, 1, "SecurityCatchCallEnd_V1", "Startup/SecurityCatchCallStop", sent("Startup", 43, 4, 0x80000000), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    // as CLRStackWalk
    event(NAME, 151, 0, "CLRStackWalkPrivate", "ClrStack/Walk", sent("CLRStackPrivate", 82, 0, 0x40000000), &[
        u16("ClrInstanceID"), u8("Reserved1"), u8("Reserved2"), u32("FrameCount").kept(0),
        pointer("Stack").times(0),
    ]), // since 2.1
    event(NAME, 158, 0, "ModuleRangeLoadPrivate", "ClrPerfTrack/ModuleRangeLoad", sent("CLRPerfTrackPrivate", 10, 4, 0x20000000), &[
        u16("ClrInstanceID"), u64("ModuleID").hex(), u32("RangeBegin").hex(), u32("RangeSize").hex(),
        u8("RangeType").named(&MODULE_RANGE_TYPE_MAP), u8("IBCType").named(&MODULE_RANGE_IBC_TYPE_MAP),
        u16("SectionType").named(&MODULE_RANGE_SECTION_TYPE_MAP),
    ]), // since 2.1
    event(NAME, 159, 0, "BindingPolicyPhaseStart", "Binding/PolicyPhaseStart", sent("Binding", 51, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 160, 0, "BindingPolicyPhaseEnd", "Binding/PolicyPhaseStop", sent("Binding", 52, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 161, 0, "BindingNgenPhaseStart", "Binding/NgenPhaseStart", sent("Binding", 53, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 162, 0, "BindingNgenPhaseEnd", "Binding/NgenPhaseStop", sent("Binding", 54, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 163, 0, "BindingLookupAndProbingPhaseStart", "Binding/LoopupAndProbingPhaseStart", sent("Binding", 55, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 164, 0, "BindingLookupAndProbingPhaseEnd", "Binding/LookupAndProbingPhaseStop", sent("Binding", 56, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 165, 0, "LoaderPhaseStart", "Binding/LoaderPhaseStart", sent("Binding", 57, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 166, 0, "LoaderPhaseEnd", "Binding/LoaderPhaseStop", sent("Binding", 58, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 167, 0, "BindingPhaseStart", "Binding/PhaseStart", sent("Binding", 59, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 168, 0, "BindingPhaseEnd", "Binding/PhaseStop", sent("Binding", 60, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 169, 0, "BindingDownloadPhaseStart", "Binding/DownloadPhaseStart", sent("Binding", 61, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 170, 0, "BindingDownloadPhaseEnd", "Binding/DownloadPhaseStop", sent("Binding", 62, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 171, 0, "LoaderAssemblyInitPhaseStart", "Binding/LoaderAssemblyInitPhaseStart", sent("Binding", 63, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 172, 0, "LoaderAssemblyInitPhaseEnd", "Binding/LoaderAssemblyInitPhaseStop", sent("Binding", 64, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 173, 0, "LoaderMappingPhaseStart", "Binding/LoaderMappingPhaseStart", sent("Binding", 65, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 174, 0, "LoaderMappingPhaseEnd", "Binding/LoaderMappingPhaseStop", sent("Binding", 66, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 175, 0, "LoaderDeliverEventsPhaseStart", "Binding/LoaderDeliverEventPhaseStart", sent("Binding", 67, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 176, 0, "LoaderDeliverEventsPhaseEnd", "Binding/LoaderDeliverEventsPhaseStop", sent("Binding", 68, 4, 0x2), &[
        u32("AppDomainID"), u32("LoadContextID"), u32("FromLoaderCache"), u32("DynamicLoad"),
        utf16("AssemblyCodebase"), utf16("AssemblyName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 177, 0, "EvidenceGenerated", "EvidenceGeneration/EvidenceGenerated", sent("EvidenceGeneratedTask", 10, 4, 0x400), &[
        u32("Type"), u32("AppDomain"), utf16("ILImage"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 178, 0, "ModuleTransparencyComputationStart", "Transparency/ModuleTransparencyComputationStart", sent("TransparencyComputation", 83, 4, 0x400), &[
        utf16("Module"), u32("AppDomainID"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 179, 0, "ModuleTransparencyComputationEnd", "Transparency/ModuleTransparencyComputationStop", sent("TransparencyComputation", 84, 4, 0x400), &[
        utf16("Module"), u32("AppDomainID"), boolean32("IsAllCritical"), boolean32("IsAllTransparent"),
        boolean32("IsTreatAsSafe"), boolean32("IsOpportunisticallyCritical"), u32("SecurityRuleSet"),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 180, 0, "TypeTransparencyComputationStart", "Transparency/TypeTransparencyComputationStart", sent("TransparencyComputation", 85, 4, 0x400), &[
        utf16("Type"), utf16("Module"), u32("AppDomainID"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 181, 0, "TypeTransparencyComputationEnd", "Transparency/TypeTransparencyComputationStop", sent("TransparencyComputation", 86, 4, 0x400), &[
        utf16("Type"), utf16("Module"), u32("AppDomainID"), boolean32("IsAllCritical"),
        boolean32("IsAllTransparent"), boolean32("IsCritical"), boolean32("IsTreatAsSafe"),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 182, 0, "MethodTransparencyComputationStart", "Transparency/MethodTransparencyComputationStart", sent("TransparencyComputation", 87, 4, 0x400), &[
        utf16("Method"), utf16("Module"), u32("AppDomainID"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 183, 0, "MethodTransparencyComputationEnd", "Transparency/MethodTransparencyComputationStop", sent("TransparencyComputation", 88, 4, 0x400), &[
        utf16("Method"), utf16("Module"), u32("AppDomainID"), boolean32("IsCritical"),
        boolean32("IsTreatAsSafe"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 184, 0, "FieldTransparencyComputationStart", "Transparency/FieldTransparencyComputationStart", sent("TransparencyComputation", 89, 4, 0x400), &[
        utf16("Field"), utf16("Module"), u32("AppDomainID"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 185, 0, "FieldTransparencyComputationEnd", "Transparency/FieldTransparencyComputationStop", sent("TransparencyComputation", 90, 4, 0x400), &[
        utf16("Field"), utf16("Module"), u32("AppDomainID"), boolean32("IsCritical"),
        boolean32("IsTreatAsSafe"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 186, 0, "TokenTransparencyComputationStart", "Transparency/TokenTransparencyComputationStart", sent("TransparencyComputation", 91, 4, 0x400), &[
        u32("Token"), utf16("Module"), u32("AppDomainID"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 187, 0, "TokenTransparencyComputationEnd", "Transparency/TokenTransparencyComputationStop", sent("TransparencyComputation", 92, 4, 0x400), &[
        u32("Token"), utf16("Module"), u32("AppDomainID"), boolean32("IsCritical"),
        boolean32("IsTreatAsSafe"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 188, 0, "NgenBindEvent", "NgenBinder/NgenBind", sent("CLRNgenBinder", 69, 4, 0x8), &[
        u16("ClrInstanceID"), u64("BindingID"), u32("ReasonCode"), utf16("AssemblyName"),
    ]), // since 2.1
    event(NAME, 189, 0, "JittedMethodRichDebugInfo", "Method/JittedMethodRichDebugInfo", sent("CLRMethodPrivate", 10, 4, 0x40000), &[
        u16("ClrInstanceID"), u64("MethodID").hex(), u64("ReJITID").hex(), u64("ILVersionID"),
        u32("ChunkIndex"), u32("DataSize").bytes().kept(0), u8("Data").times(0),
    ]), // since 5.0+
    event(NAME, 191, 0, "FailFast", "FailFast", sent("CLRFailFast", 52, 1, 0x0), &[
        utf16("FailFastUserMessage"), pointer("FailedEIP"), u32("OSExitCode"), u32("ClrExitCode"),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 192, 0, "PrvFinalizeObject", "GC/FinalizeObject", sent("GarbageCollectionPrivate", 39, 5, 0x1), &[
        pointer("TypeID"), pointer("ObjectID"), u16("ClrInstanceID"), utf16("TypeName"),
    ]), // since 2.1; seen 10.0
    event(NAME, 193, 0, "CCWRefCountChangeAnsi", "GC/CCWRefCountChangeAnsi", sent("GarbageCollectionPrivate", 40, 5, 0x2000), &[
        pointer("HandleID"), pointer("ObjectID"), pointer("COMInterfacePointer"), u32("NewRefCount"),
        u64("AppDomainID").hex(), ansi("ClassName"), ansi("NameSpace"), utf16("Operation"),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 194, 0, "PrvSetGCHandle", "GC/SetGCHandle", sent("GarbageCollectionPrivate", 42, 5, 0x4000), &[
        pointer("HandleID"), pointer("ObjectID"), u32("Kind").named(&GC_HANDLE_KIND_MAP), u32("Generation"),
        u64("AppDomainID").hex(), u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 195, 0, "PrvDestroyGCHandle", "GC/DestroyGCHandle", sent("GarbageCollectionPrivate", 43, 5, 0x4000), &[
        pointer("HandleID"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 196, 0, "FusionMessageEvent", "Binding/FusionMessage", sent("Binding", 70, 4, 0x2), &[
        u16("ClrInstanceID"), boolean32("Prepend"), utf16("Message"),
    ]), // since 2.1
    event(NAME, 197, 0, "FusionErrorCodeEvent", "Binding/FusionErrorCode", sent("Binding", 71, 4, 0x2), &[
        u16("ClrInstanceID"), u32("Category"), u32("ErrorCode"),
    ]), // since 2.1
    event(NAME, 199, 0, "PinPlugAtGCTime", "GC/PinPlugAtGCTime", sent("GarbageCollectionPrivate", 44, 5, 0x1), &[
        pointer("PlugStart"), pointer("PlugEnd"), pointer("GapBeforeSize").bytes(), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 10.0
    event(NAME, 200, 0, "CCWRefCountChange", "GC/CCWRefCountChange", sent("GarbageCollectionPrivate", 40, 5, 0x2000), &[
        pointer("HandleID"), pointer("ObjectID"), pointer("COMInterfacePointer"), u32("NewRefCount"),
        u64("AppDomainID").hex(), utf16("ClassName"), utf16("NameSpace"), utf16("Operation"),
        u16("ClrInstanceID"),
    ]), // since 3.1
    event(NAME, 201, 0, "MulticoreJit", "ClrMulticoreJit/Common", sent("CLRMulticoreJit", 10, 4, 0x20000), &[
        u16("ClrInstanceID"), utf16("String1"), utf16("String2"), i32("Int1"), i32("Int2"), i32("Int3"),
    ]), // since 2.1
    event(NAME, 202, 0, "MulticoreJitMethodCodeReturned", "ClrMulticoreJit/MethodCodeReturned", sent("CLRMulticoreJit", 11, 4, 0x20000), &[
        u16("ClrInstanceID"), u64("ModuleID"), u64("MethodID"),
    ]), // since 2.1
    event(NAME, 310, 0, "AllocRequest", "LoaderHeap/AllocRequest", sent("LoaderHeapAllocation", 97, 5, 0x10), &[
        pointer("LoaderHeapPtr"), pointer("MemoryAddress"), u32("RequestSize").bytes(), u32("Unused1"),
        u64("Unused2").hex(), u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 400, 0, "IInspectableRuntimeClassName", "ClrDynamicTypeUsage/IInspectableRuntimeClassName", sent("DynamicTypeUsage", 11, 4, 0x20), &[
        utf16("TypeName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 401, 0, "WinRTUnbox", "ClrDynamicTypeUsage/WinRTUnbox", sent("DynamicTypeUsage", 12, 4, 0x20), &[
        utf16("TypeName"), utf16("SecondTypeName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 402, 0, "CreateRCW", "ClrDynamicTypeUsage/CreateRCW", sent("DynamicTypeUsage", 13, 4, 0x20), &[
        utf16("TypeName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 403, 0, "RCWVariance", "ClrDynamicTypeUsage/RCWVariance", sent("DynamicTypeUsage", 14, 4, 0x20), &[
        utf16("TypeName"), utf16("InterfaceTypeName"), utf16("VariantInterfaceTypeName"),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 404, 0, "RCWIEnumerableCasting", "ClrDynamicTypeUsage/RCWIEnumerableCasting", sent("DynamicTypeUsage", 15, 4, 0x20), &[
        utf16("TypeName"), utf16("SecondTypeName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 405, 0, "CreateCCW", "ClrDynamicTypeUsage/CreateCCW", sent("DynamicTypeUsage", 16, 4, 0x20), &[
        utf16("TypeName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 406, 0, "CCWVariance", "ClrDynamicTypeUsage/CCWVariance", sent("DynamicTypeUsage", 17, 4, 0x20), &[
        utf16("TypeName"), utf16("InterfaceTypeName"), utf16("VariantInterfaceTypeName"),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 407, 0, "ObjectVariantMarshallingToNative", "ClrDynamicTypeUsage/ObjectVariantMarshallingToNative", sent("DynamicTypeUsage", 18, 4, 0x20), &[
        utf16("TypeName"), i32("Int1"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 408, 0, "GetTypeFromGUID", "ClrDynamicTypeUsage/GetTypeFromGUID", sent("DynamicTypeUsage", 19, 4, 0x20), &[
        utf16("TypeName"), utf16("SecondTypeName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 409, 0, "GetTypeFromProgID", "ClrDynamicTypeUsage/GetTypeFromProgID", sent("DynamicTypeUsage", 20, 4, 0x20), &[
        utf16("TypeName"), utf16("SecondTypeName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 410, 0, "ConvertToCallbackEtw", "ClrDynamicTypeUsage/ConvertToCallbackEtw", sent("DynamicTypeUsage", 21, 4, 0x20), &[
        utf16("TypeName"), utf16("SecondTypeName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 411, 0, "BeginCreateManagedReference", "ClrDynamicTypeUsage/BeginCreateManagedReference", sent("DynamicTypeUsage", 22, 4, 0x20), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 412, 0, "EndCreateManagedReference", "ClrDynamicTypeUsage/EndCreateManagedReference", sent("DynamicTypeUsage", 23, 4, 0x20), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 413, 0, "ObjectVariantMarshallingToManaged", "ClrDynamicTypeUsage/ObjectVariantMarshallingToManaged", sent("DynamicTypeUsage", 24, 4, 0x20), &[
        utf16("TypeName"), i32("Int1"), u16("ClrInstanceID"),
    ]), // since 2.1
];
