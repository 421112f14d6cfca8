//! Microsoft-Windows-DotNETRuntime: a part of its events.
//!
//! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by
//! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes
//! whose payloads were read by this row.

use crate::catalog::event::{CatalogEvent, event, sent};
use crate::catalog::row::{boolean32, f64, pointer, u16, u32, u64, u8};
use super::runtime::{
    CONTENTION_FLAGS_MAP, NAME, THREAD_ADJUSTMENT_REASON_MAP, WAIT_HANDLE_WAIT_SOURCE_MAP,
};

pub(super) static EVENTS: [CatalogEvent; 40] = [
    event(NAME, 40, 0, "WorkerThreadCreate", "WorkerThreadCreationV2/Start", sent("WorkerThreadCreation", 1, 4, 0x10000), &[
        u32("WorkerThreadCount"), u32("RetiredWorkerThreads"),
    ]), // since 2.1
    event(NAME, 41, 0, "WorkerThreadTerminate", "WorkerThreadCreationV2/Stop", sent("WorkerThreadCreation", 2, 4, 0x10000), &[
        u32("WorkerThreadCount"), u32("RetiredWorkerThreads"),
    ]), // since 2.1
    event(NAME, 42, 0, "WorkerThreadRetire", "WorkerThreadRetirementV2/Start", sent("WorkerThreadRetirement", 1, 4, 0x10000), &[
        u32("WorkerThreadCount"), u32("RetiredWorkerThreads"),
    ]), // since 2.1
    event(NAME, 43, 0, "WorkerThreadUnretire", "WorkerThreadRetirementV2/Stop", sent("WorkerThreadRetirement", 2, 4, 0x10000), &[
        u32("WorkerThreadCount"), u32("RetiredWorkerThreads"),
    ]), // since 2.1
    event(NAME, 44, 0, "IOThreadCreate", "IOThreadCreation/Start", sent("IOThreadCreation", 1, 4, 0x10000), &[
        u32("IOThreadCount"), u32("RetiredIOThreads"),
    ]), // since 2.1
    event(NAME, 44, 1, "IOThreadCreate_V1", "IOThreadCreation/Start", sent("IOThreadCreation", 1, 4, 0x10000), &[
        u32("IOThreadCount"), u32("RetiredIOThreads"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 45, 0, "IOThreadTerminate", "IOThreadCreation/Stop", sent("IOThreadCreation", 2, 4, 0x10000), &[
        u32("IOThreadCount"), u32("RetiredIOThreads"),
    ]), // since 2.1
    event(NAME, 45, 1, "IOThreadTerminate_V1", "IOThreadCreation/Stop", sent("IOThreadCreation", 2, 4, 0x10000), &[
        u32("IOThreadCount"), u32("RetiredIOThreads"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 46, 0, "IOThreadRetire", "IOThreadRetirement/Start", sent("IOThreadRetirement", 1, 4, 0x10000), &[
        u32("IOThreadCount"), u32("RetiredIOThreads"),
    ]), // since 2.1
    event(NAME, 46, 1, "IOThreadRetire_V1", "IOThreadRetirement/Start", sent("IOThreadRetirement", 1, 4, 0x10000), &[
        u32("IOThreadCount"), u32("RetiredIOThreads"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 47, 0, "IOThreadUnretire", "IOThreadRetirement/Stop", sent("IOThreadRetirement", 2, 4, 0x10000), &[
        u32("IOThreadCount"), u32("RetiredIOThreads"),
    ]), // since 2.1
    event(NAME, 47, 1, "IOThreadUnretire_V1", "IOThreadRetirement/Stop", sent("IOThreadRetirement", 2, 4, 0x10000), &[
        u32("IOThreadCount"), u32("RetiredIOThreads"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 48, 0, "ThreadpoolSuspensionSuspendThread", "ThreadpoolSuspensionV2/Start", sent("ThreadpoolSuspension", 1, 4, 0x10000), &[
        u32("ClrThreadID"), u32("CpuUtilization"),
    ]), // since 2.1
    event(NAME, 49, 0, "ThreadpoolSuspensionResumeThread", "ThreadpoolSuspensionV2/Stop", sent("ThreadpoolSuspension", 2, 4, 0x10000), &[
        u32("ClrThreadID"), u32("CpuUtilization"),
    ]), // since 2.1
    event(NAME, 50, 0, "ThreadPoolWorkerThreadStart", "ThreadPoolWorkerThread/Start", sent("ThreadPoolWorkerThread", 1, 4, 0x10000), &[
        u32("ActiveWorkerThreadCount"), u32("RetiredWorkerThreadCount"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 10.0
    event(NAME, 51, 0, "ThreadPoolWorkerThreadStop", "ThreadPoolWorkerThread/Stop", sent("ThreadPoolWorkerThread", 2, 4, 0x10000), &[
        u32("ActiveWorkerThreadCount"), u32("RetiredWorkerThreadCount"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 5.0-mac
    event(NAME, 52, 0, "ThreadPoolWorkerThreadRetirementStart", "ThreadPoolWorkerThreadRetirement/Start", sent("ThreadPoolWorkerThreadRetirement", 1, 4, 0x10000), &[
        u32("ActiveWorkerThreadCount"), u32("RetiredWorkerThreadCount"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 53, 0, "ThreadPoolWorkerThreadRetirementStop", "ThreadPoolWorkerThreadRetirement/Stop", sent("ThreadPoolWorkerThreadRetirement", 2, 4, 0x10000), &[
        u32("ActiveWorkerThreadCount"), u32("RetiredWorkerThreadCount"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 54, 0, "ThreadPoolWorkerThreadAdjustmentSample", "ThreadPoolWorkerThreadAdjustment/Sample", sent("ThreadPoolWorkerThreadAdjustment", 100, 4, 0x10000), &[
        f64("Throughput"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 8.0 9.0 10.0
    event(NAME, 55, 0, "ThreadPoolWorkerThreadAdjustmentAdjustment", "ThreadPoolWorkerThreadAdjustment/Adjustment", sent("ThreadPoolWorkerThreadAdjustment", 101, 4, 0x10000), &[
        f64("AverageThroughput"), u32("NewWorkerThreadCount"),
        u32("Reason").named(&THREAD_ADJUSTMENT_REASON_MAP), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 8.0 9.0 10.0
    event(NAME, 56, 0, "ThreadPoolWorkerThreadAdjustmentStats", "ThreadPoolWorkerThreadAdjustment/Stats", sent("ThreadPoolWorkerThreadAdjustment", 102, 5, 0x10000), &[
        f64("Duration").seconds(), f64("Throughput"), f64("ThreadWave"), f64("ThroughputWave"),
        f64("ThroughputErrorEstimate"), f64("AverageThroughputErrorEstimate"), f64("ThroughputRatio"),
        f64("Confidence"), f64("NewControlSetting"), u16("NewThreadWaveMagnitude"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 8.0 9.0 10.0
    event(NAME, 57, 0, "ThreadPoolWorkerThreadWait", "ThreadPoolWorkerThread/Wait", sent("ThreadPoolWorkerThread", 90, 4, 0x10000), &[
        u32("ActiveWorkerThreadCount"), u32("RetiredWorkerThreadCount"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 5.0-mac 8.0 9.0 10.0
    event(NAME, 58, 0, "YieldProcessorMeasurement", "YieldProcessorMeasurement", sent("YieldProcessorMeasurement", 0, 4, 0x10000), &[
        u16("ClrInstanceID"), f64("NsPerYield"), f64("EstablishedNsPerYield"),
    ]), // since 5.0+; seen 8.0 9.0 10.0
    event(NAME, 59, 0, "ThreadPoolMinMaxThreads", "ThreadPoolMinMaxThreads", sent("ThreadPoolMinMaxThreads", 0, 4, 0x10000), &[
        u16("MinWorkerThreads"), u16("MaxWorkerThreads"), u16("MinIOCompletionThreads"),
        u16("MaxIOCompletionThreads"), u16("ClrInstanceID"),
    ]), // since 5.0+; seen 10.0
    event(NAME, 60, 0, "ThreadPoolWorkingThreadCount", "ThreadPoolWorkingThreadCount/Start", sent("ThreadPoolWorkingThreadCount", 1, 5, 0x10000), &[
        u32("Count"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 61, 0, "ThreadPoolEnqueue", "ThreadPool/Enqueue", sent("ThreadPool", 11, 5, 0x80010000), &[
        pointer("WorkID"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win
    event(NAME, 62, 0, "ThreadPoolDequeue", "ThreadPool/Dequeue", sent("ThreadPool", 12, 5, 0x80010000), &[
        pointer("WorkID"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win
    event(NAME, 63, 0, "ThreadPoolIOEnqueue", "ThreadPool/IOEnqueue", sent("ThreadPool", 13, 5, 0x80010000), &[
        pointer("NativeOverlapped"), pointer("Overlapped"), boolean32("MultiDequeues"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 64, 0, "ThreadPoolIODequeue", "ThreadPool/IODequeue", sent("ThreadPool", 14, 5, 0x80010000), &[
        pointer("NativeOverlapped"), pointer("Overlapped"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 65, 0, "ThreadPoolIOPack", "ThreadPool/IOPack", sent("ThreadPool", 15, 5, 0x10000), &[
        pointer("NativeOverlapped"), pointer("Overlapped"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 70, 0, "ThreadCreating", "Thread/Creating", sent("Thread", 11, 4, 0x80010000), &[
        pointer("ID"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 71, 0, "ThreadRunning", "Thread/Running", sent("Thread", 12, 4, 0x80010000), &[
        pointer("ID"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 81, 0, "Contention", "Contention/Start", sent("Contention", 1, 4, 0x0), &[]), // since 2.1
    event(NAME, 81, 1, "ContentionStart_V1", "Contention/Start", sent("Contention", 1, 4, 0x4000), &[
        u8("ContentionFlags").named(&CONTENTION_FLAGS_MAP), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win
    event(NAME, 81, 2, "ContentionStart_V2", "Contention/Start", sent("Contention", 1, 4, 0x4000), &[
        u8("ContentionFlags").named(&CONTENTION_FLAGS_MAP), u16("ClrInstanceID"), pointer("LockID"),
        pointer("AssociatedObjectID"), u64("LockOwnerThreadID"),
    ]), // since 5.0+; seen 8.0 9.0 10.0
    event(NAME, 90, 0, "ContentionLockCreated", "Contention/LockCreated", sent("Contention", 11, 4, 0x4000), &[
        pointer("LockID"), pointer("AssociatedObjectID"), u16("ClrInstanceID"),
    ]), // since 5.0+; seen 8.0 9.0 10.0
    event(NAME, 91, 0, "ContentionStop", "Contention/Stop", sent("Contention", 2, 4, 0x4000), &[
        u8("ContentionFlags").named(&CONTENTION_FLAGS_MAP), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 91, 1, "ContentionStop_V1", "Contention/Stop", sent("Contention", 2, 4, 0x4000), &[
        u8("ContentionFlags").named(&CONTENTION_FLAGS_MAP), u16("ClrInstanceID"),
        f64("DurationNs").nanoseconds(),
    ]), // since 3.1; seen 3.0-win 8.0 9.0 10.0
    event(NAME, 301, 0, "WaitHandleWaitStart", "WaitHandleWait/Start", sent("WaitHandleWait", 1, 5, 0x40000000000), &[
        u8("WaitSource").named(&WAIT_HANDLE_WAIT_SOURCE_MAP), pointer("AssociatedObjectID"),
        u16("ClrInstanceID"),
    ]), // since 5.0+; seen 10.0
    event(NAME, 302, 0, "WaitHandleWaitStop", "WaitHandleWait/Stop", sent("WaitHandleWait", 2, 5, 0x40000000000), &[
        u16("ClrInstanceID"),
    ]), // since 5.0+; seen 10.0
];
