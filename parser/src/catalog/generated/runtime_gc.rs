//! Microsoft-Windows-DotNETRuntime: a part of its events.
//!
//! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by
//! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes
//! whose payloads were read by this row.

use crate::catalog::event::{CatalogEvent, event, sent};
use crate::catalog::row::{i32, padding, pointer, records, u16, u32, u64, u8, utf16};
use super::runtime::{
    GC_ALLOCATION_KIND_MAP, GC_BUCKET_KIND_MAP, GC_HANDLE_KIND_MAP, GC_REASON_MAP, GC_ROOT_CCW_FLAGS_MAP,
    GC_ROOT_FLAGS_MAP, GC_ROOT_KIND_MAP, GC_ROOT_STATIC_VAR_FLAGS_MAP, GC_SEGMENT_TYPE_MAP,
    GC_SUSPEND_EE_REASON_MAP, GC_TYPE_MAP, NAME, TYPE_FLAGS_MAP,
};

pub(super) static EVENTS: [CatalogEvent; 68] = [
    event(NAME, 1, 0, "GCStart", "GC/Start", sent("GarbageCollection", 1, 4, 0x1), &[
        u32("Count"), u32("Reason").named(&GC_REASON_MAP),
    ]), // since 2.1
    event(NAME, 1, 1, "GCStart_V1", "GC/Start", sent("GarbageCollection", 1, 4, 0x1), &[
        u32("Count"), u32("Depth"), u32("Reason").named(&GC_REASON_MAP), u32("Type").named(&GC_TYPE_MAP),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 1, 2, "GCStart_V2", "GC/Start", sent("GarbageCollection", 1, 4, 0x1), &[
        u32("Count"), u32("Depth"), u32("Reason").named(&GC_REASON_MAP), u32("Type").named(&GC_TYPE_MAP),
        u16("ClrInstanceID"), u64("ClientSequenceNumber"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 8.0 9.0 10.0
    event(NAME, 2, 0, "GCEnd", "GC/Stop", sent("GarbageCollection", 2, 4, 0x1), &[
        u32("Count"), u16("Depth"),
    ]), // since 2.1
    event(NAME, 2, 1, "GCEnd_V1", "GC/Stop", sent("GarbageCollection", 2, 4, 0x1), &[
        u32("Count"), u32("Depth"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 8.0 9.0 10.0
    event(NAME, 3, 0, "GCRestartEEEnd", "GC/RestartEEStop", sent("GarbageCollection", 132, 4, 0x1), &[]), // since 2.1
    event(NAME, 3, 1, "GCRestartEEEnd_V1", "GC/RestartEEStop", sent("GarbageCollection", 132, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 5.0-mac 8.0 9.0 10.0
    event(NAME, 4, 0, "GCHeapStats", "GC/HeapStats", sent("GarbageCollection", 133, 4, 0x1), &[
        u64("GenerationSize0").hex().bytes(), u64("TotalPromotedSize0").hex().bytes(),
        u64("GenerationSize1").hex().bytes(), u64("TotalPromotedSize1").hex().bytes(),
        u64("GenerationSize2").hex().bytes(), u64("TotalPromotedSize2").hex().bytes(),
        u64("GenerationSize3").hex().bytes(), u64("TotalPromotedSize3").hex().bytes(),
        u64("FinalizationPromotedSize").hex().bytes(), u64("FinalizationPromotedCount"),
        u32("PinnedObjectCount"), u32("SinkBlockCount"), u32("GCHandleCount"),
    ]), // since 2.1
    event(NAME, 4, 1, "GCHeapStats_V1", "GC/HeapStats", sent("GarbageCollection", 133, 4, 0x1), &[
        u64("GenerationSize0").hex().bytes(), u64("TotalPromotedSize0").hex().bytes(),
        u64("GenerationSize1").hex().bytes(), u64("TotalPromotedSize1").hex().bytes(),
        u64("GenerationSize2").hex().bytes(), u64("TotalPromotedSize2").hex().bytes(),
        u64("GenerationSize3").hex().bytes(), u64("TotalPromotedSize3").hex().bytes(),
        u64("FinalizationPromotedSize").hex().bytes(), u64("FinalizationPromotedCount"),
        u32("PinnedObjectCount"), u32("SinkBlockCount"), u32("GCHandleCount"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32
    event(NAME, 4, 2, "GCHeapStats_V2", "GC/HeapStats", sent("GarbageCollection", 133, 4, 0x1), &[
        u64("GenerationSize0").hex().bytes(), u64("TotalPromotedSize0").hex().bytes(),
        u64("GenerationSize1").hex().bytes(), u64("TotalPromotedSize1").hex().bytes(),
        u64("GenerationSize2").hex().bytes(), u64("TotalPromotedSize2").hex().bytes(),
        u64("GenerationSize3").hex().bytes(), u64("TotalPromotedSize3").hex().bytes(),
        u64("FinalizationPromotedSize").hex().bytes(), u64("FinalizationPromotedCount"),
        u32("PinnedObjectCount"), u32("SinkBlockCount"), u32("GCHandleCount"), u16("ClrInstanceID"),
        u64("GenerationSize4").hex().bytes(), u64("TotalPromotedSize4").hex().bytes(),
    ]), // since 5.0+; seen 8.0 9.0 10.0
    event(NAME, 5, 0, "GCCreateSegment", "GC/CreateSegment", sent("GarbageCollection", 134, 4, 0x1), &[
        u64("Address").hex(), u64("Size").hex().bytes(), u32("Type").named(&GC_SEGMENT_TYPE_MAP),
    ]), // since 2.1
    event(NAME, 5, 1, "GCCreateSegment_V1", "GC/CreateSegment", sent("GarbageCollection", 134, 4, 0x1), &[
        u64("Address").hex(), u64("Size").hex().bytes(), u32("Type").named(&GC_SEGMENT_TYPE_MAP),
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 6, 0, "GCFreeSegment", "GC/FreeSegment", sent("GarbageCollection", 135, 4, 0x1), &[
        u64("Address").hex(),
    ]), // since 2.1
    event(NAME, 6, 1, "GCFreeSegment_V1", "GC/FreeSegment", sent("GarbageCollection", 135, 4, 0x1), &[
        u64("Address").hex(), u16("ClrInstanceID"),
    ]), // since 2.1; seen 9.0 10.0
    event(NAME, 7, 0, "GCRestartEEBegin", "GC/RestartEEStart", sent("GarbageCollection", 136, 4, 0x1), &[]), // since 2.1
    event(NAME, 7, 1, "GCRestartEEBegin_V1", "GC/RestartEEStart", sent("GarbageCollection", 136, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 5.0-mac 8.0 9.0 10.0
    event(NAME, 8, 0, "GCSuspendEEEnd", "GC/SuspendEEStop", sent("GarbageCollection", 137, 4, 0x1), &[]), // since 2.1
    event(NAME, 8, 1, "GCSuspendEEEnd_V1", "GC/SuspendEEStop", sent("GarbageCollection", 137, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 5.0-mac 8.0 9.0 10.0
    event(NAME, 9, 0, "GCSuspendEEBegin", "GC/SuspendEEStart", sent("GarbageCollection", 10, 4, 0x1), &[
        u16("Reason").named(&GC_SUSPEND_EE_REASON_MAP),
    ]), // since 2.1
    event(NAME, 9, 1, "GCSuspendEEBegin_V1", "GC/SuspendEEStart", sent("GarbageCollection", 10, 4, 0x1), &[
        u32("Reason").named(&GC_SUSPEND_EE_REASON_MAP), u32("Count"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 5.0-mac 8.0 9.0 10.0
    event(NAME, 10, 0, "GCAllocationTick", "GC/AllocationTick", sent("GarbageCollection", 11, 5, 0x1), &[
        u32("AllocationAmount").hex().bytes(), u32("AllocationKind").named(&GC_ALLOCATION_KIND_MAP),
    ]), // since 2.1
    event(NAME, 10, 1, "GCAllocationTick_V1", "GC/AllocationTick", sent("GarbageCollection", 11, 5, 0x1), &[
        u32("AllocationAmount").hex().bytes(), u32("AllocationKind").named(&GC_ALLOCATION_KIND_MAP),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 10, 2, "GCAllocationTick_V2", "GC/AllocationTick", sent("GarbageCollection", 11, 5, 0x1), &[
        u32("AllocationAmount").hex().bytes(), u32("AllocationKind").named(&GC_ALLOCATION_KIND_MAP),
        u16("ClrInstanceID"), u64("AllocationAmount64").hex().bytes(), pointer("TypeID"), utf16("TypeName"),
        u32("HeapIndex"),
    ]), // since 2.1
    event(NAME, 10, 3, "GCAllocationTick_V3", "GC/AllocationTick", sent("GarbageCollection", 11, 5, 0x1), &[
        u32("AllocationAmount").hex().bytes(), u32("AllocationKind").named(&GC_ALLOCATION_KIND_MAP),
        u16("ClrInstanceID"), u64("AllocationAmount64").hex().bytes(), pointer("TypeID"), utf16("TypeName"),
        u32("HeapIndex"), pointer("Address"),
    ]), // since 2.1; seen 3.0-win
    event(NAME, 10, 4, "GCAllocationTick_V4", "GC/AllocationTick", sent("GarbageCollection", 11, 5, 0x1), &[
        u32("AllocationAmount").hex().bytes(), u32("AllocationKind").named(&GC_ALLOCATION_KIND_MAP),
        u16("ClrInstanceID"), u64("AllocationAmount64").hex().bytes(), pointer("TypeID"), utf16("TypeName"),
        u32("HeapIndex"), pointer("Address"), u64("ObjectSize").hex().bytes(),
    ]), // since 5.0+; seen 8.0 9.0 10.0
    event(NAME, 11, 0, "GCCreateConcurrentThread", "GC/CreateConcurrentThread", sent("GarbageCollection", 12, 4, 0x1), &[]), // since 2.1
    event(NAME, 11, 1, "GCCreateConcurrentThread_V1", "GC/CreateConcurrentThread", sent("GarbageCollection", 12, 4, 0x10001), &[
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 8.0 10.0
    event(NAME, 12, 0, "GCTerminateConcurrentThread", "GC/TerminateConcurrentThread", sent("GarbageCollection", 13, 4, 0x1), &[]), // since 2.1
    event(NAME, 12, 1, "GCTerminateConcurrentThread_V1", "GC/TerminateConcurrentThread", sent("GarbageCollection", 13, 4, 0x10001), &[
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 13, 0, "GCFinalizersEnd", "GC/FinalizersStop", sent("GarbageCollection", 15, 4, 0x1), &[
        u32("Count"),
    ]), // since 2.1
    event(NAME, 13, 1, "GCFinalizersEnd_V1", "GC/FinalizersStop", sent("GarbageCollection", 15, 4, 0x1), &[
        u32("Count"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 8.0 9.0 10.0
    event(NAME, 14, 0, "GCFinalizersBegin", "GC/FinalizersStart", sent("GarbageCollection", 19, 4, 0x1), &[]), // since 2.1
    event(NAME, 14, 1, "GCFinalizersBegin_V1", "GC/FinalizersStart", sent("GarbageCollection", 19, 4, 0x1), &[
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 8.0 9.0 10.0
    event(NAME, 15, 0, "BulkType", "Type/BulkType", sent("Type", 10, 4, 0x80000), &[
        u32("Count").kept(0), u16("ClrInstanceID"),
        records("Values", 0, &[
            u64("TypeID").hex(), u64("ModuleID").hex(), u32("TypeNameID"),
            u32("Flags").named(&TYPE_FLAGS_MAP), u8("CorElementType"), utf16("Name"),
            u32("TypeParameterCount").kept(1), u64("TypeParameters").times(1).hex(),
        ]),
    ]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 16, 0, "GCBulkRootEdge", "GC/BulkRootEdge", sent("GarbageCollection", 20, 4, 0x100000), &[
        u32("Index"), u32("Count").kept(0), u16("ClrInstanceID"),
        records("Values", 0, &[
            pointer("RootedNodeAddress"), u8("GCRootKind").named(&GC_ROOT_KIND_MAP),
            u32("GCRootFlag").named(&GC_ROOT_FLAGS_MAP), pointer("GCRootID"),
        ]),
    ]), // since 2.1; seen 8.0 10.0
    event(NAME, 17, 0, "GCBulkRootConditionalWeakTableElementEdge", "GC/BulkRootConditionalWeakTableElementEdge", sent("GarbageCollection", 21, 4, 0x100000), &[
        u32("Index"), u32("Count").kept(0), u16("ClrInstanceID"),
        records("Values", 0, &[
            pointer("GCKeyNodeID"), pointer("GCValueNodeID"), pointer("GCRootID"),
        ]),
    ]), // since 2.1
    event(NAME, 18, 0, "GCBulkNode", "GC/BulkNode", sent("GarbageCollection", 22, 4, 0x100000), &[
        u32("Index"), u32("Count").kept(0), u16("ClrInstanceID"),
        records("Values", 0, &[
            pointer("Address"), u64("Size").bytes(), u64("TypeID"), u64("EdgeCount"),
        ]),
    ]), // since 2.1; seen 8.0 10.0
    event(NAME, 19, 0, "GCBulkEdge", "GC/BulkEdge", sent("GarbageCollection", 23, 4, 0x100000), &[
        u32("Index"), u32("Count").kept(0), u16("ClrInstanceID"),
        records("Values", 0, &[
            pointer("Value").hex(), u32("ReferencingFieldID"),
        ]),
    ]), // since 2.1; seen 8.0 10.0
    event(NAME, 20, 0, "GCSampledObjectAllocationHigh", "GC/SampledObjectAllocation", sent("GarbageCollection", 24, 4, 0x200000), &[
        pointer("Address"), pointer("TypeID"), u32("ObjectCountForTypeSample"),
        u64("TotalSizeForTypeSample").bytes(), u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 21, 0, "GCBulkSurvivingObjectRanges", "GC/BulkSurvivingObjectRanges", sent("GarbageCollection", 25, 4, 0x400000), &[
        u32("Index"), u32("Count").kept(0), u16("ClrInstanceID"),
        records("Values", 0, &[
            pointer("RangeBase").hex(), u64("RangeLength").bytes(),
        ]),
    ]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 22, 0, "GCBulkMovedObjectRanges", "GC/BulkMovedObjectRanges", sent("GarbageCollection", 26, 4, 0x400000), &[
        u32("Index"), u32("Count").kept(0), u16("ClrInstanceID"),
        records("Values", 0, &[
            pointer("OldRangeBase").hex(), pointer("NewRangeBase").hex(), u64("RangeLength").bytes(),
        ]),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 8.0 9.0 10.0
    event(NAME, 23, 0, "GCGenerationRange", "GC/GenerationRange", sent("GarbageCollection", 27, 4, 0x400000), &[
        u8("Generation"), pointer("RangeStart").hex(), u64("RangeUsedLength").bytes(),
        u64("RangeReservedLength").bytes(), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 8.0 9.0 10.0
    event(NAME, 25, 0, "GCMarkStackRoots", "GC/MarkStackRoots", sent("GarbageCollection", 28, 4, 0x1), &[
        u32("HeapNum"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 26, 0, "GCMarkFinalizeQueueRoots", "GC/MarkFinalizeQueueRoots", sent("GarbageCollection", 29, 4, 0x1), &[
        u32("HeapNum"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 27, 0, "GCMarkHandles", "GC/MarkHandles", sent("GarbageCollection", 30, 4, 0x1), &[
        u32("HeapNum"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 28, 0, "GCMarkOlderGenerationRoots", "GC/MarkCards", sent("GarbageCollection", 31, 4, 0x1), &[
        u32("HeapNum"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 29, 0, "FinalizeObject", "GC/FinalizeObject", sent("GarbageCollection", 32, 5, 0x1), &[
        pointer("TypeID"), pointer("ObjectID"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 30, 0, "SetGCHandle", "GC/SetGCHandle", sent("GarbageCollection", 33, 4, 0x2), &[
        pointer("HandleID"), pointer("ObjectID"), u32("Kind").named(&GC_HANDLE_KIND_MAP), u32("Generation"),
        u64("AppDomainID").hex(), u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 31, 0, "DestroyGCHandle", "GC/DestoryGCHandle", sent("GarbageCollection", 34, 4, 0x2), &[
        pointer("HandleID"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 32, 0, "GCSampledObjectAllocationLow", "GC/SampledObjectAllocation", sent("GarbageCollection", 24, 4, 0x2000000), &[
        pointer("Address"), pointer("TypeID"), u32("ObjectCountForTypeSample"),
        u64("TotalSizeForTypeSample").bytes(), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 33, 0, "PinObjectAtGCTime", "GC/PinObjectAtGCTime", sent("GarbageCollection", 36, 5, 0x1), &[
        pointer("HandleID"), pointer("ObjectID"), u64("ObjectSize").bytes(), utf16("TypeName"),
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 8.0 9.0 10.0
    event(NAME, 35, 0, "GCTriggered", "GC/Triggered", sent("GarbageCollection", 35, 4, 0x1), &[
        u32("Reason").named(&GC_REASON_MAP), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 8.0 9.0 10.0
    event(NAME, 36, 0, "GCBulkRootCCW", "GC/BulkRootCCW", sent("GarbageCollection", 38, 4, 0x100000), &[
        u32("Count").kept(0), u16("ClrInstanceID"),
        records("Values", 0, &[
            u64("GCRootID").hex(), u64("ObjectID").hex(), u64("TypeID").hex(), u64("IUnknown").hex(),
            u32("RefCount"), u32("PeggedRefCount"), u32("Flags").named(&GC_ROOT_CCW_FLAGS_MAP),
        ]),
    ]), // since 2.1
    event(NAME, 37, 0, "GCBulkRCW", "GC/BulkRCW", sent("GarbageCollection", 39, 4, 0x100000), &[
        u32("Count").kept(0), u16("ClrInstanceID"),
        records("Values", 0, &[
            u64("ObjectID").hex(), u64("TypeID").hex(), u64("IUnknown").hex(), u64("VTable").hex(),
            u32("RefCount"), u32("Flags"),
        ]),
    ]), // since 2.1
    event(NAME, 38, 0, "GCBulkRootStaticVar", "GC/BulkRootStaticVar", sent("GarbageCollection", 40, 4, 0x100000), &[
        u32("Count").kept(0), u64("AppDomainID").hex(), u16("ClrInstanceID"),
        records("Values", 0, &[
            u64("GCRootID").hex(), u64("ObjectID").hex(), u64("TypeID").hex(),
            u32("Flags").named(&GC_ROOT_STATIC_VAR_FLAGS_MAP), utf16("FieldName"),
        ]),
    ]), // since 2.1; seen 8.0 10.0
    // Data is a record named by Name; see gc_dynamic
    event(NAME, 39, 0, "GCDynamicEvent", "GC/GCDynamicEvent", sent("GarbageCollection", 41, 4, 0x3f00003), &[
        utf16("Name"), u32("DataSize").bytes().kept(0), u8("Data").times(0), u16("ClrInstanceID"),
    ]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 200, 0, "IncreaseMemoryPressure", "GC/IncreaseMemoryPressure", sent("GarbageCollection", 200, 5, 0x1), &[
        u64("BytesAllocated").bytes(), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 8.0 9.0 10.0
    event(NAME, 201, 0, "DecreaseMemoryPressure", "GC/DecreaseMemoryPressure", sent("GarbageCollection", 201, 5, 0x1), &[
        u64("BytesFreed").bytes(), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 8.0 9.0 10.0
    event(NAME, 202, 0, "GCMarkWithType", "GC/MarkWithType", sent("GarbageCollection", 202, 4, 0x1), &[
        u32("HeapNum"), u16("ClrInstanceID"), u32("Type").named(&GC_ROOT_KIND_MAP), u64("Bytes").bytes(),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 8.0 9.0 10.0
    event(NAME, 203, 2, "GCJoin_V2", "GC/Join", sent("GarbageCollection", 203, 5, 0x1), &[
        u32("Heap"), u32("JoinTime"), u32("JoinType"), u16("ClrInstanceID"), u32("JoinID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 204, 3, "GCPerHeapHistory_V3", "GC/PerHeapHistory", sent("GarbageCollection", 204, 4, 0x1), &[
        u16("ClrInstanceID"), pointer("FreeListAllocated").hex().bytes(),
        pointer("FreeListRejected").hex().bytes(), pointer("EndOfSegAllocated").hex().bytes(),
        pointer("CondemnedAllocated").hex().bytes(), pointer("PinnedAllocated").hex().bytes(),
        pointer("PinnedAllocatedAdvance").hex().bytes(), u32("RunningFreeListEfficiency"),
        u32("CondemnReasons0"), u32("CondemnReasons1"), u32("CompactMechanisms"), u32("ExpandMechanisms"),
        u32("HeapIndex"), pointer("ExtraGen0Commit").hex().bytes(), u32("Count").kept(0),
        records("Values", 0, &[
            pointer("SizeBefore").hex().bytes(), pointer("FreeListBefore").hex(),
            pointer("FreeObjBefore").hex(), pointer("SizeAfter").hex().bytes(),
            pointer("FreeListAfter").hex(), pointer("FreeObjAfter").hex(), pointer("In").hex(),
            pointer("PinnedSurv").hex(), pointer("NonePinnedSurv").hex(), pointer("NewAllocation").hex(),
        ]),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 8.0 9.0 10.0
    event(NAME, 205, 2, "GCGlobalHeapHistory_V2", "GC/GlobalHeapHistory", sent("GarbageCollection", 205, 4, 0x1), &[
        u64("FinalYoungestDesired").hex(), i32("NumHeaps"), u32("CondemnedGeneration"),
        u32("Gen0ReductionCount"), u32("Reason"), u32("GlobalMechanisms"), u16("ClrInstanceID"),
        u32("PauseMode"), u32("MemoryPressure"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32
    event(NAME, 205, 3, "GCGlobalHeapHistory_V3", "GC/GlobalHeapHistory", sent("GarbageCollection", 205, 4, 0x1), &[
        u64("FinalYoungestDesired").hex(), i32("NumHeaps"), u32("CondemnedGeneration"),
        u32("Gen0ReductionCount"), u32("Reason"), u32("GlobalMechanisms"), u16("ClrInstanceID"),
        u32("PauseMode"), u32("MemoryPressure"), u32("CondemnReasons0"), u32("CondemnReasons1"),
    ]), // since 5.0+
    event(NAME, 205, 4, "GCGlobalHeapHistory_V4", "GC/GlobalHeapHistory", sent("GarbageCollection", 205, 4, 0x1), &[
        u64("FinalYoungestDesired").hex(), i32("NumHeaps"), u32("CondemnedGeneration"),
        u32("Gen0ReductionCount"), u32("Reason"), u32("GlobalMechanisms"), u16("ClrInstanceID"),
        u32("PauseMode"), u32("MemoryPressure"), u32("CondemnReasons0"), u32("CondemnReasons1"),
        u32("Count").kept(0), records("Values", 0, &[
            u32("Time"),
        ]),
    ]), // since 5.0+; seen 8.0 9.0 10.0
    event(NAME, 206, 0, "GenAwareBegin", "GC/GenAwareBegin", sent("GarbageCollection", 206, 4, 0x100000), &[
        u32("Count"), u16("ClrInstanceID"),
    ]), // since 5.0+
    event(NAME, 207, 0, "GenAwareEnd", "GC/GenAwareEnd", sent("GarbageCollection", 207, 4, 0x100000), &[
        u32("Count"), u16("ClrInstanceID"),
    ]), // since 5.0+
    event(NAME, 208, 0, "GCLOHCompact", "GC/LOHCompact", sent("GarbageCollection", 208, 4, 0x1), &[
        u16("ClrInstanceID"), u16("Count").kept(0),
        records("Values", 0, &[
            u32("TimePlan"), u32("TimeCompact"), u32("TimeRelocate"), pointer("TotalRefs"),
            pointer("ZeroRefs"),
        ]),
    ]), // since 5.0+
    event(NAME, 209, 0, "GCFitBucketInfo", "GC/FitBucketInfo", sent("GarbageCollection", 209, 5, 0x1), &[
        u16("ClrInstanceID"), u16("BucketKind").named(&GC_BUCKET_KIND_MAP), u64("TotalSize").bytes(),
        u16("Count").kept(0),
        records("Values", 0, &[
            u16("Index"), padding(2), u32("Count"), pointer("Size").hex().bytes(),
        ]),
    ]), // since 5.0+; seen 8.0 9.0 10.0
];
