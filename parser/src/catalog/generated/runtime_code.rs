//! Microsoft-Windows-DotNETRuntime: a part of its events.
//!
//! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by
//! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes
//! whose payloads were read by this row.

use crate::catalog::event::{CatalogEvent, event, sent};
use crate::catalog::row::{ansi, boolean32, guid, i32, i64, pointer, u16, u32, u64, u8, utf16};
use super::runtime::{
    APP_DOMAIN_FLAGS_MAP, ASSEMBLY_FLAGS_MAP, EXCEPTION_THROWN_FLAGS_MAP, GC_ALLOCATION_KIND_MAP,
    IL_STUB_GENERATED_FLAGS_MAP, KNOWN_PATH_SOURCE_MAP, METHOD_FLAGS_MAP, MODULE_FLAGS_MAP,
    MODULE_RANGE_TYPE_MAP, NAME, RESOLUTION_ATTEMPTED_RESULT_MAP, RESOLUTION_ATTEMPTED_STAGE_MAP,
    RUNTIME_SKU_MAP, STARTUP_FLAGS_MAP, STARTUP_MODE_MAP, TAIL_CALL_TYPE_MAP, THREAD_FLAGS_MAP,
    TIERED_COMPILATION_SETTINGS_FLAGS_MAP,
};

pub(super) static EVENTS: [CatalogEvent; 103] = [
    event(NAME, 72, 0, "MethodDetails", "Method/MethodDetails", sent("CLRMethod", 43, 4, 0x4000000000), &[
        u64("MethodID").hex(), u64("TypeID").hex(), u32("MethodToken").hex(),
        u32("TypeParameterCount").kept(0), u64("LoaderModuleID").hex(), u64("TypeParameters").times(0).hex(),
    ]), // since 5.0+; seen 10.0
    event(NAME, 73, 0, "TypeLoadStart", "TypeLoad/Start", sent("TypeLoad", 1, 4, 0x8000000000), &[
        u32("TypeLoadStartID"), u16("ClrInstanceID"),
    ]), // since 5.0+; seen 10.0
    event(NAME, 74, 0, "TypeLoadStop", "TypeLoad/Stop", sent("TypeLoad", 2, 4, 0x8000000000), &[
        u32("TypeLoadStartID"), u16("ClrInstanceID"), u16("LoadLevel"), u64("TypeID").hex(),
        utf16("TypeName"),
    ]), // since 5.0+; seen 10.0
    event(NAME, 80, 0, "ExceptionThrown", "Exception/Start", sent("Exception", 1, 4, 0x0), &[]), // since 2.1
    event(NAME, 80, 1, "ExceptionThrown_V1", "Exception/Start", sent("Exception", 1, 2, 0x200008000), &[
        utf16("ExceptionType"), utf16("ExceptionMessage"), pointer("ExceptionEIP"),
        u32("ExceptionHRESULT").hex(), u16("ExceptionFlags").named(&EXCEPTION_THROWN_FLAGS_MAP),
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 8.0 9.0 10.0
    // Stack length is FrameCount, the manifest says 2; not written to EventPipe
    event(NAME, 82, 0, "CLRStackWalk", "ClrStack/Walk", sent("CLRStack", 82, 0, 0x40000000), &[
        u16("ClrInstanceID"), u8("Reserved1"), u8("Reserved2"), u32("FrameCount").kept(0),
        pointer("Stack").times(0),
    ]), // since 2.1
    event(NAME, 83, 0, "AppDomainMemAllocated", "AppDomainResourceManagement/MemAllocated", sent("AppDomainResourceManagement", 48, 4, 0x800), &[
        u64("AppDomainID").hex(), u64("Allocated").hex().bytes(), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 84, 0, "AppDomainMemSurvived", "AppDomainResourceManagement/MemSurvived", sent("AppDomainResourceManagement", 49, 4, 0x800), &[
        u64("AppDomainID").hex(), u64("Survived").hex().bytes(), u64("ProcessSurvived").hex().bytes(),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 85, 0, "ThreadCreated", "AppDomainResourceManagement/ThreadCreated", sent("AppDomainResourceManagement", 50, 4, 0x10800), &[
        u64("ManagedThreadID").hex(), u64("AppDomainID").hex(), u32("Flags").named(&THREAD_FLAGS_MAP),
        u32("ManagedThreadIndex"), u32("OSThreadID"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 5.0-mac 8.0 9.0 10.0
    event(NAME, 86, 0, "ThreadTerminated", "AppDomainResourceManagement/ThreadTerminated", sent("AppDomainResourceManagement", 51, 4, 0x10800), &[
        u64("ManagedThreadID").hex(), u64("AppDomainID").hex(), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 87, 0, "ThreadDomainEnter", "AppDomainResourceManagement/DomainEnter", sent("AppDomainResourceManagement", 52, 4, 0x10800), &[
        u64("ManagedThreadID").hex(), u64("AppDomainID").hex(), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 88, 0, "ILStubGenerated", "ILStub/StubGenerated", sent("CLRILStub", 88, 4, 0x2000), &[
        u16("ClrInstanceID"), u64("ModuleID").hex(), u64("StubMethodID").hex(),
        u32("StubFlags").named(&IL_STUB_GENERATED_FLAGS_MAP), u32("ManagedInteropMethodToken").hex(),
        utf16("ManagedInteropMethodNamespace"), utf16("ManagedInteropMethodName"),
        utf16("ManagedInteropMethodSignature"), utf16("NativeMethodSignature"), utf16("StubMethodSignature"),
        utf16("StubMethodILCode"),
    ]), // since 2.1; seen 10.0
    event(NAME, 89, 0, "ILStubCacheHit", "ILStub/StubCacheHit", sent("CLRILStub", 89, 4, 0x2000), &[
        u16("ClrInstanceID"), u64("ModuleID").hex(), u64("StubMethodID").hex(),
        u32("ManagedInteropMethodToken").hex(), utf16("ManagedInteropMethodNamespace"),
        utf16("ManagedInteropMethodName"), utf16("ManagedInteropMethodSignature"),
    ]), // since 2.1
    event(NAME, 135, 0, "DCStartCompleteV2", "Method/DCStartCompleteV2", sent("CLRMethod", 14, 4, 0x30), &[]), // since 2.1
    event(NAME, 136, 0, "DCEndCompleteV2", "Method/DCStopCompleteV2", sent("CLRMethod", 15, 4, 0x30), &[]), // since 2.1
    event(NAME, 137, 0, "MethodDCStartV2", "Method/DCStartV2", sent("CLRMethod", 35, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP),
    ]), // since 2.1
    event(NAME, 138, 0, "MethodDCEndV2", "Method/DCStopV2", sent("CLRMethod", 36, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP),
    ]), // since 2.1
    event(NAME, 139, 0, "MethodDCStartVerboseV2", "Method/DCStartVerboseV2", sent("CLRMethod", 39, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"),
    ]), // since 2.1
    event(NAME, 140, 0, "MethodDCEndVerboseV2", "Method/DCStopVerboseV2", sent("CLRMethod", 40, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"),
    ]), // since 2.1
    event(NAME, 141, 0, "MethodLoad", "Method/Load", sent("CLRMethod", 33, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP),
    ]), // since 2.1
    event(NAME, 141, 1, "MethodLoad_V1", "Method/Load", sent("CLRMethod", 33, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 141, 2, "MethodLoad_V2", "Method/Load", sent("CLRMethod", 33, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), u16("ClrInstanceID"), u64("ReJITID").hex(),
    ]), // since 2.1
    event(NAME, 142, 0, "MethodUnload", "Method/Unload", sent("CLRMethod", 34, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP),
    ]), // since 2.1
    event(NAME, 142, 1, "MethodUnload_V1", "Method/Unload", sent("CLRMethod", 34, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 142, 2, "MethodUnload_V2", "Method/Unload", sent("CLRMethod", 34, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), u16("ClrInstanceID"), u64("ReJITID").hex(),
    ]), // since 2.1
    event(NAME, 143, 0, "MethodLoadVerbose", "Method/LoadVerbose", sent("CLRMethod", 37, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"),
    ]), // since 2.1
    event(NAME, 143, 1, "MethodLoadVerbose_V1", "Method/LoadVerbose", sent("CLRMethod", 37, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1 8.0 9.0 10.0
    event(NAME, 143, 2, "MethodLoadVerbose_V2", "Method/LoadVerbose", sent("CLRMethod", 37, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"), u16("ClrInstanceID"), u64("ReJITID").hex(),
    ]), // since 2.1; seen 3.0-win 3.1 8.0 9.0 10.0
    event(NAME, 144, 0, "MethodUnloadVerbose", "Method/UnloadVerbose", sent("CLRMethod", 38, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"),
    ]), // since 2.1
    event(NAME, 144, 1, "MethodUnloadVerbose_V1", "Method/UnloadVerbose", sent("CLRMethod", 38, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 144, 2, "MethodUnloadVerbose_V2", "Method/UnloadVerbose", sent("CLRMethod", 38, 4, 0x30), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("MethodStartAddress").hex(),
        u32("MethodSize").hex().bytes(), u32("MethodToken").hex(),
        u32("MethodFlags").named(&METHOD_FLAGS_MAP), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"), u16("ClrInstanceID"), u64("ReJITID").hex(),
    ]), // since 2.1; seen 10.0
    event(NAME, 145, 0, "MethodJittingStarted", "Method/JittingStarted", sent("CLRMethod", 42, 5, 0x10), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u32("MethodToken").hex(),
        u32("MethodILSize").hex().bytes(), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"),
    ]), // since 2.1
    event(NAME, 145, 1, "MethodJittingStarted_V1", "Method/JittingStarted", sent("CLRMethod", 42, 5, 0x10), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u32("MethodToken").hex(),
        u32("MethodILSize").hex().bytes(), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1 8.0 9.0 10.0
    event(NAME, 146, 0, "MethodJitMemoryAllocatedForCode", "Method/MemoryAllocatedForJitCode", sent("CLRMethod", 103, 5, 0x10), &[
        u64("MethodID").hex(), u64("ModuleID").hex(), u64("JitHotCodeRequestSize").bytes(),
        u64("JitRODataRequestSize").bytes(), u64("AllocatedSizeForJitCode").bytes(), u32("JitAllocFlag"),
        u16("ClrInstanceID"),
    ]), // since 5.0+; seen 8.0 9.0 10.0
    event(NAME, 149, 0, "ModuleDCStartV2", "Loader/ModuleDCStartV2", sent("CLRLoader", 35, 4, 0x8), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"),
    ]), // since 2.1
    event(NAME, 150, 0, "ModuleDCEndV2", "Loader/ModuleDCStopV2", sent("CLRLoader", 36, 4, 0x8), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"),
    ]), // since 2.1
    event(NAME, 151, 0, "DomainModuleLoad", "Loader/DomainModuleLoad", sent("CLRLoader", 45, 4, 0x8), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u64("AppDomainID").hex(),
        u32("ModuleFlags").named(&MODULE_FLAGS_MAP), u32("Reserved1"), utf16("ModuleILPath"),
        utf16("ModuleNativePath"),
    ]), // since 2.1
    event(NAME, 151, 1, "DomainModuleLoad_V1", "Loader/DomainModuleLoad", sent("CLRLoader", 45, 4, 0x8), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u64("AppDomainID").hex(),
        u32("ModuleFlags").named(&MODULE_FLAGS_MAP), u32("Reserved1"), utf16("ModuleILPath"),
        utf16("ModuleNativePath"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 3.1 5.0-mac 10.0
    event(NAME, 152, 0, "ModuleLoad", "Loader/ModuleLoad", sent("CLRLoader", 33, 4, 0x8), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"),
    ]), // since 2.1
    event(NAME, 152, 1, "ModuleLoad_V1", "Loader/ModuleLoad", sent("CLRLoader", 33, 4, 0x20000008), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 152, 2, "ModuleLoad_V2", "Loader/ModuleLoad", sent("CLRLoader", 33, 4, 0x20000008), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"), u16("ClrInstanceID"),
        guid("ManagedPdbSignature"), u32("ManagedPdbAge"), utf16("ManagedPdbBuildPath"),
        guid("NativePdbSignature"), u32("NativePdbAge"), utf16("NativePdbBuildPath"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 3.1 5.0-mac 10.0
    event(NAME, 152, 3, "ModuleLoad_V3", "Loader/ModuleLoad", sent("CLRLoader", 33, 4, 0x20000008), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"), u16("ClrInstanceID"),
        guid("ManagedPdbSignature"), u32("ManagedPdbAge"), utf16("ManagedPdbBuildPath"),
        guid("NativePdbSignature"), u32("NativePdbAge"), utf16("NativePdbBuildPath"), utf16("NativeBuildID"),
    ]), // since 5.0+
    event(NAME, 153, 0, "ModuleUnload", "Loader/ModuleUnload", sent("CLRLoader", 34, 4, 0x8), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"),
    ]), // since 2.1
    event(NAME, 153, 1, "ModuleUnload_V1", "Loader/ModuleUnload", sent("CLRLoader", 34, 4, 0x20000008), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 153, 2, "ModuleUnload_V2", "Loader/ModuleUnload", sent("CLRLoader", 34, 4, 0x20000008), &[
        u64("ModuleID").hex(), u64("AssemblyID").hex(), u32("ModuleFlags").named(&MODULE_FLAGS_MAP),
        u32("Reserved1"), utf16("ModuleILPath"), utf16("ModuleNativePath"), u16("ClrInstanceID"),
        guid("ManagedPdbSignature"), u32("ManagedPdbAge"), utf16("ManagedPdbBuildPath"),
        guid("NativePdbSignature"), u32("NativePdbAge"), utf16("NativePdbBuildPath"),
    ]), // since 2.1; seen 10.0
    event(NAME, 154, 0, "AssemblyLoad", "Loader/AssemblyLoad", sent("CLRLoader", 37, 4, 0x8), &[
        u64("AssemblyID").hex(), u64("AppDomainID").hex(), u32("AssemblyFlags").named(&ASSEMBLY_FLAGS_MAP),
        utf16("FullyQualifiedAssemblyName"),
    ]), // since 2.1
    event(NAME, 154, 1, "AssemblyLoad_V1", "Loader/AssemblyLoad", sent("CLRLoader", 37, 4, 0x8), &[
        u64("AssemblyID").hex(), u64("AppDomainID").hex(), u64("BindingID").hex(),
        u32("AssemblyFlags").named(&ASSEMBLY_FLAGS_MAP), utf16("FullyQualifiedAssemblyName"),
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win 3.1-arm32 3.1 5.0-mac 10.0
    event(NAME, 155, 0, "AssemblyUnload", "Loader/AssemblyUnload", sent("CLRLoader", 38, 4, 0x8), &[
        u64("AssemblyID").hex(), u64("AppDomainID").hex(), u32("AssemblyFlags").named(&ASSEMBLY_FLAGS_MAP),
        utf16("FullyQualifiedAssemblyName"),
    ]), // since 2.1
    event(NAME, 155, 1, "AssemblyUnload_V1", "Loader/AssemblyUnload", sent("CLRLoader", 38, 4, 0x8), &[
        u64("AssemblyID").hex(), u64("AppDomainID").hex(), u64("BindingID").hex(),
        u32("AssemblyFlags").named(&ASSEMBLY_FLAGS_MAP), utf16("FullyQualifiedAssemblyName"),
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 156, 0, "AppDomainLoad", "Loader/AppDomainLoad", sent("CLRLoader", 41, 4, 0x8), &[
        u64("AppDomainID").hex(), u32("AppDomainFlags").named(&APP_DOMAIN_FLAGS_MAP), utf16("AppDomainName"),
    ]), // since 2.1
    event(NAME, 156, 1, "AppDomainLoad_V1", "Loader/AppDomainLoad", sent("CLRLoader", 41, 4, 0x8), &[
        u64("AppDomainID").hex(), u32("AppDomainFlags").named(&APP_DOMAIN_FLAGS_MAP), utf16("AppDomainName"),
        u32("AppDomainIndex"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 157, 0, "AppDomainUnload", "Loader/AppDomainUnload", sent("CLRLoader", 42, 4, 0x8), &[
        u64("AppDomainID").hex(), u32("AppDomainFlags").named(&APP_DOMAIN_FLAGS_MAP), utf16("AppDomainName"),
    ]), // since 2.1
    event(NAME, 157, 1, "AppDomainUnload_V1", "Loader/AppDomainUnload", sent("CLRLoader", 42, 4, 0x8), &[
        u64("AppDomainID").hex(), u32("AppDomainFlags").named(&APP_DOMAIN_FLAGS_MAP), utf16("AppDomainName"),
        u32("AppDomainIndex"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 158, 0, "ModuleRangeLoad", "ClrPerfTrack/ModuleRangeLoad", sent("CLRPerfTrack", 10, 4, 0x20000000), &[
        u16("ClrInstanceID"), u64("ModuleID").hex(), u32("RangeBegin").hex(), u32("RangeSize").hex().bytes(),
        u8("RangeType").named(&MODULE_RANGE_TYPE_MAP),
    ]), // since 2.1
    // trace metadata says level 5 in 3.x, keyword 0x20 in 3.0
    event(NAME, 159, 0, "R2RGetEntryPoint", "Method/R2RGetEntryPoint", sent("CLRMethod", 33, 4, 0x2000000000), &[
        u64("MethodID").hex(), utf16("MethodNamespace"), utf16("MethodName"), utf16("MethodSignature"),
        u64("EntryPoint").hex(), u16("ClrInstanceID"),
    ]), // since 3.1; seen 3.0-win 3.1 10.0
    event(NAME, 160, 0, "R2RGetEntryPointStart", "Method/R2RGetEntryPointStart", sent("CLRMethod", 33, 4, 0x2000000000), &[
        u64("MethodID").hex(), u16("ClrInstanceID"),
    ]), // since 5.0+; seen 10.0
    event(NAME, 181, 0, "StrongNameVerificationStart", "StrongNameVerification/Start", sent("CLRStrongNameVerification", 1, 5, 0x400), &[
        u32("VerificationFlags").hex(), u32("ErrorCode").hex(), utf16("FullyQualifiedAssemblyName"),
    ]), // since 2.1
    event(NAME, 181, 1, "StrongNameVerificationStart_V1", "StrongNameVerification/Start", sent("CLRStrongNameVerification", 1, 5, 0x400), &[
        u32("VerificationFlags").hex(), u32("ErrorCode").hex(), utf16("FullyQualifiedAssemblyName"),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 182, 0, "StrongNameVerificationStop", "StrongNameVerification/Stop", sent("CLRStrongNameVerification", 2, 4, 0x400), &[
        u32("VerificationFlags").hex(), u32("ErrorCode").hex(), utf16("FullyQualifiedAssemblyName"),
    ]), // since 2.1
    event(NAME, 182, 1, "StrongNameVerificationStop_V1", "StrongNameVerification/Stop", sent("CLRStrongNameVerification", 2, 4, 0x400), &[
        u32("VerificationFlags").hex(), u32("ErrorCode").hex(), utf16("FullyQualifiedAssemblyName"),
        u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 183, 0, "AuthenticodeVerificationStart", "AuthenticodeVerification/Start", sent("CLRAuthenticodeVerification", 1, 5, 0x400), &[
        u32("VerificationFlags").hex(), u32("ErrorCode").hex(), utf16("ModulePath"),
    ]), // since 2.1
    event(NAME, 183, 1, "AuthenticodeVerificationStart_V1", "AuthenticodeVerification/Start", sent("CLRAuthenticodeVerification", 1, 5, 0x400), &[
        u32("VerificationFlags").hex(), u32("ErrorCode").hex(), utf16("ModulePath"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 184, 0, "AuthenticodeVerificationStop", "AuthenticodeVerification/Stop", sent("CLRAuthenticodeVerification", 2, 4, 0x400), &[
        u32("VerificationFlags").hex(), u32("ErrorCode").hex(), utf16("ModulePath"),
    ]), // since 2.1
    event(NAME, 184, 1, "AuthenticodeVerificationStop_V1", "AuthenticodeVerification/Stop", sent("CLRAuthenticodeVerification", 2, 4, 0x400), &[
        u32("VerificationFlags").hex(), u32("ErrorCode").hex(), utf16("ModulePath"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 185, 0, "MethodJitInliningSucceeded", "Method/InliningSucceeded", sent("CLRMethod", 83, 5, 0x1000), &[
        utf16("MethodBeingCompiledNamespace"), utf16("MethodBeingCompiledName"),
        utf16("MethodBeingCompiledNameSignature"), utf16("InlinerNamespace"), utf16("InlinerName"),
        utf16("InlinerNameSignature"), utf16("InlineeNamespace"), utf16("InlineeName"),
        utf16("InlineeNameSignature"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 186, 0, "MethodJitInliningFailedAnsi", "Method/InliningFailedAnsi", sent("CLRMethod", 84, 5, 0x1000), &[
        utf16("MethodBeingCompiledNamespace"), utf16("MethodBeingCompiledName"),
        utf16("MethodBeingCompiledNameSignature"), utf16("InlinerNamespace"), utf16("InlinerName"),
        utf16("InlinerNameSignature"), utf16("InlineeNamespace"), utf16("InlineeName"),
        utf16("InlineeNameSignature"), boolean32("FailAlways"), ansi("FailReason"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 187, 0, "RuntimeInformationStart", "Runtime/Start", sent("CLRRuntimeInformation", 1, 4, 0x0), &[
        u16("ClrInstanceID"), u16("Sku").named(&RUNTIME_SKU_MAP), u16("BclMajorVersion"),
        u16("BclMinorVersion"), u16("BclBuildNumber"), u16("BclQfeNumber"), u16("VMMajorVersion"),
        u16("VMMinorVersion"), u16("VMBuildNumber"), u16("VMQfeNumber"),
        u32("StartupFlags").named(&STARTUP_FLAGS_MAP), u8("StartupMode").named(&STARTUP_MODE_MAP),
        utf16("CommandLine"), guid("ComObjectGuid"), utf16("RuntimeDllPath"),
    ]), // since 2.1; seen 10.0
    event(NAME, 188, 0, "MethodJitTailCallSucceeded", "Method/TailCallSucceeded", sent("CLRMethod", 85, 5, 0x1000), &[
        utf16("MethodBeingCompiledNamespace"), utf16("MethodBeingCompiledName"),
        utf16("MethodBeingCompiledNameSignature"), utf16("CallerNamespace"), utf16("CallerName"),
        utf16("CallerNameSignature"), utf16("CalleeNamespace"), utf16("CalleeName"),
        utf16("CalleeNameSignature"), boolean32("TailPrefix"), u32("TailCallType").named(&TAIL_CALL_TYPE_MAP),
        u16("ClrInstanceID"),
    ]), // since 2.1; seen 10.0
    event(NAME, 189, 0, "MethodJitTailCallFailedAnsi", "Method/TailCallFailed", sent("CLRMethod", 86, 5, 0x1000), &[
        utf16("MethodBeingCompiledNamespace"), utf16("MethodBeingCompiledName"),
        utf16("MethodBeingCompiledNameSignature"), utf16("CallerNamespace"), utf16("CallerName"),
        utf16("CallerNameSignature"), utf16("CalleeNamespace"), utf16("CalleeName"),
        utf16("CalleeNameSignature"), boolean32("TailPrefix"), ansi("FailReason"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 190, 0, "MethodILToNativeMap", "Method/ILToNativeMap", sent("CLRMethod", 87, 5, 0x20000), &[
        u64("MethodID").hex(), u64("ReJITID").hex(), u8("MethodExtent"), u16("CountOfMapEntries").kept(0),
        u32("ILOffsets").times(0), u32("NativeOffsets").times(0), u16("ClrInstanceID"),
    ]), // since 2.1; seen 3.0-win
    event(NAME, 190, 1, "MethodILToNativeMap_V1", "Method/ILToNativeMap", sent("CLRMethod", 87, 5, 0x20000), &[
        u64("MethodID").hex(), u64("ReJITID").hex(), u8("MethodExtent"), u16("CountOfMapEntries").kept(0),
        u32("ILOffsets").times(0), u32("NativeOffsets").times(0), u16("ClrInstanceID"), u64("ILVersionID"),
    ]), // since 5.0+; seen 8.0 9.0 10.0
    event(NAME, 191, 0, "MethodJitTailCallFailed", "Method/TailCallFailed", sent("CLRMethod", 86, 5, 0x1000), &[
        utf16("MethodBeingCompiledNamespace"), utf16("MethodBeingCompiledName"),
        utf16("MethodBeingCompiledNameSignature"), utf16("CallerNamespace"), utf16("CallerName"),
        utf16("CallerNameSignature"), utf16("CalleeNamespace"), utf16("CalleeName"),
        utf16("CalleeNameSignature"), boolean32("TailPrefix"), utf16("FailReason"), u16("ClrInstanceID"),
    ]), // since 3.1; seen 10.0
    event(NAME, 192, 0, "MethodJitInliningFailed", "Method/InliningFailed", sent("CLRMethod", 84, 5, 0x1000), &[
        utf16("MethodBeingCompiledNamespace"), utf16("MethodBeingCompiledName"),
        utf16("MethodBeingCompiledNameSignature"), utf16("InlinerNamespace"), utf16("InlinerName"),
        utf16("InlinerNameSignature"), utf16("InlineeNamespace"), utf16("InlineeName"),
        utf16("InlineeNameSignature"), boolean32("FailAlways"), utf16("FailReason"), u16("ClrInstanceID"),
    ]), // since 3.1; seen 10.0
    event(NAME, 240, 0, "DebugIPCEventStart", "DebugIPCEvent/Start", sent("DebugIPCEvent", 1, 4, 0x100000000), &[]), // since 2.1
    event(NAME, 241, 0, "DebugIPCEventEnd", "DebugIPCEvent/Stop", sent("DebugIPCEvent", 2, 4, 0x100000000), &[]), // since 2.1
    event(NAME, 242, 0, "DebugExceptionProcessingStart", "DebugExceptionProcessing/Start", sent("DebugExceptionProcessing", 1, 4, 0x100000000), &[]), // since 2.1
    event(NAME, 243, 0, "DebugExceptionProcessingEnd", "DebugExceptionProcessing/Stop", sent("DebugExceptionProcessing", 2, 4, 0x100000000), &[]), // since 2.1
    event(NAME, 250, 0, "ExceptionCatchStart", "ExceptionCatch/Start", sent("ExceptionCatch", 1, 4, 0x8000), &[
        u64("EntryEIP").hex(), u64("MethodID").hex(), utf16("MethodName"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 251, 0, "ExceptionCatchStop", "ExceptionCatch/Stop", sent("ExceptionCatch", 2, 4, 0x8000), &[]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 252, 0, "ExceptionFinallyStart", "ExceptionFinally/Start", sent("ExceptionFinally", 1, 4, 0x8000), &[
        u64("EntryEIP").hex(), u64("MethodID").hex(), utf16("MethodName"), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 253, 0, "ExceptionFinallyStop", "ExceptionFinally/Stop", sent("ExceptionFinally", 2, 4, 0x8000), &[]), // since 2.1
    event(NAME, 254, 0, "ExceptionFilterStart", "ExceptionFilter/Start", sent("ExceptionFilter", 1, 4, 0x8000), &[
        u64("EntryEIP").hex(), u64("MethodID").hex(), utf16("MethodName"), u16("ClrInstanceID"),
    ]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 255, 0, "ExceptionFilterStop", "ExceptionFilter/Stop", sent("ExceptionFilter", 2, 4, 0x8000), &[]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 256, 0, "ExceptionThrownStop", "Exception/Stop", sent("Exception", 2, 4, 0x8000), &[]), // since 2.1; seen 8.0 9.0 10.0
    event(NAME, 260, 0, "CodeSymbols", "CodeSymbols/Start", sent("CodeSymbols", 1, 5, 0x400000000), &[
        u64("ModuleId"), u16("TotalChunks"), u16("ChunkNumber"), u32("ChunkLength").bytes().kept(0),
        u8("Chunk").times(0), u16("ClrInstanceID"),
    ]), // since 2.1
    event(NAME, 270, 0, "EventSource", "EventSourceEvent", sent("", 0, 4, 0x800000000), &[
        i32("EventID"), utf16("EventName"), utf16("EventSourceName"), utf16("Payload"),
    ]), // since 2.1
    event(NAME, 280, 0, "TieredCompilationSettings", "TieredCompilation/Settings", sent("TieredCompilation", 11, 4, 0x1000000000), &[
        u16("ClrInstanceID"), u32("Flags").hex().named(&TIERED_COMPILATION_SETTINGS_FLAGS_MAP),
    ]), // since 3.1
    event(NAME, 281, 0, "TieredCompilationPause", "TieredCompilation/Pause", sent("TieredCompilation", 12, 4, 0x1000000000), &[
        u16("ClrInstanceID"),
    ]), // since 3.1; seen 3.1-arm32 3.1 5.0-mac 8.0 9.0 10.0
    event(NAME, 282, 0, "TieredCompilationResume", "TieredCompilation/Resume", sent("TieredCompilation", 13, 4, 0x1000000000), &[
        u16("ClrInstanceID"), u32("NewMethodCount"),
    ]), // since 3.1; seen 3.1-arm32 3.1 5.0-mac 8.0 9.0 10.0
    event(NAME, 283, 0, "TieredCompilationBackgroundJitStart", "TieredCompilation/BackgroundJitStart", sent("TieredCompilation", 1, 4, 0x1000000000), &[
        u16("ClrInstanceID"), u32("PendingMethodCount"),
    ]), // since 3.1; seen 3.1 5.0-mac 8.0 9.0 10.0
    event(NAME, 284, 0, "TieredCompilationBackgroundJitStop", "TieredCompilation/BackgroundJitStop", sent("TieredCompilation", 2, 4, 0x1000000000), &[
        u16("ClrInstanceID"), u32("PendingMethodCount"), u32("JittedMethodCount"),
    ]), // since 3.1; seen 3.1 5.0-mac 8.0 9.0 10.0
    event(NAME, 290, 0, "AssemblyLoadStart", "AssemblyLoader/Start", sent("AssemblyLoader", 1, 4, 0x4), &[
        u16("ClrInstanceID"), utf16("AssemblyName"), utf16("AssemblyPath"), utf16("RequestingAssembly"),
        utf16("AssemblyLoadContext"), utf16("RequestingAssemblyLoadContext"),
    ]), // since 5.0+; seen 5.0-mac 8.0 9.0 10.0
    event(NAME, 291, 0, "AssemblyLoadStop", "AssemblyLoader/Stop", sent("AssemblyLoader", 2, 4, 0x4), &[
        u16("ClrInstanceID"), utf16("AssemblyName"), utf16("AssemblyPath"), utf16("RequestingAssembly"),
        utf16("AssemblyLoadContext"), utf16("RequestingAssemblyLoadContext"), boolean32("Success"),
        utf16("ResultAssemblyName"), utf16("ResultAssemblyPath"), boolean32("Cached"),
    ]), // since 5.0+; seen 5.0-mac 8.0 9.0 10.0
    event(NAME, 292, 0, "ResolutionAttempted", "AssemblyLoader/ResolutionAttempted", sent("AssemblyLoader", 11, 4, 0x4), &[
        u16("ClrInstanceID"), utf16("AssemblyName"), u16("Stage").named(&RESOLUTION_ATTEMPTED_STAGE_MAP),
        utf16("AssemblyLoadContext"), u16("Result").named(&RESOLUTION_ATTEMPTED_RESULT_MAP),
        utf16("ResultAssemblyName"), utf16("ResultAssemblyPath"), utf16("ErrorMessage"),
    ]), // since 5.0+; seen 5.0-mac 10.0
    event(NAME, 293, 0, "AssemblyLoadContextResolvingHandlerInvoked", "AssemblyLoader/AssemblyLoadContextResolvingHandlerInvoked", sent("AssemblyLoader", 12, 4, 0x4), &[
        u16("ClrInstanceID"), utf16("AssemblyName"), utf16("HandlerName"), utf16("AssemblyLoadContext"),
        utf16("ResultAssemblyName"), utf16("ResultAssemblyPath"),
    ]), // since 5.0+
    event(NAME, 294, 0, "AppDomainAssemblyResolveHandlerInvoked", "AssemblyLoader/AppDomainAssemblyResolveHandlerInvoked", sent("AssemblyLoader", 13, 4, 0x4), &[
        u16("ClrInstanceID"), utf16("AssemblyName"), utf16("HandlerName"), utf16("ResultAssemblyName"),
        utf16("ResultAssemblyPath"),
    ]), // since 5.0+
    event(NAME, 295, 0, "AssemblyLoadFromResolveHandlerInvoked", "AssemblyLoader/AssemblyLoadFromResolveHandlerInvoked", sent("AssemblyLoader", 14, 4, 0x4), &[
        u16("ClrInstanceID"), utf16("AssemblyName"), boolean32("IsTrackedLoad"),
        utf16("RequestingAssemblyPath"), utf16("ComputedRequestedAssemblyPath"),
    ]), // since 5.0+
    event(NAME, 296, 0, "KnownPathProbed", "AssemblyLoader/KnownPathProbed", sent("AssemblyLoader", 15, 4, 0x4), &[
        u16("ClrInstanceID"), utf16("FilePath"), u16("Source").named(&KNOWN_PATH_SOURCE_MAP), i32("Result"),
    ]), // since 5.0+; seen 5.0-mac 10.0
    event(NAME, 297, 0, "JitInstrumentationData", "JitInstrumentationData/InstrumentationData", sent("JitInstrumentationData", 11, 4, 0x10000000000), &[
        u16("ClrInstanceID"), u32("MethodFlags"), u32("DataSize").bytes().kept(0), u64("MethodID").hex(),
        u8("Data").times(0),
    ]), // since 5.0+
    event(NAME, 298, 0, "JitInstrumentationDataVerbose", "JitInstrumentationDataVerbose/InstrumentationData", sent("JitInstrumentationData", 12, 4, 0x10000000000), &[
        u16("ClrInstanceID"), u32("MethodFlags"), u32("DataSize").bytes().kept(0), u64("MethodID").hex(),
        u64("ModuleID").hex(), u32("MethodToken").hex(), utf16("MethodNamespace"), utf16("MethodName"),
        utf16("MethodSignature"), u8("Data").times(0),
    ]), // since 5.0+; seen 10.0
    event(NAME, 299, 0, "ProfilerMessage", "Profiler/Profiler", sent("Profiler", 11, 4, 0x20000000000), &[
        u16("ClrInstanceID"), utf16("Message"),
    ]), // since 5.0+
    event(NAME, 300, 0, "ExecutionCheckpoint", "ExecutionCheckpoint/ExecutionCheckpoint", sent("ExecutionCheckpoint", 11, 4, 0x20000000), &[
        u16("ClrInstanceID"), utf16("Name"), i64("Timestamp"),
    ]), // since 5.0+
    event(NAME, 303, 0, "AllocationSampled", "AllocationSampling", sent("AllocationSampling", 0, 4, 0x80000000000), &[
        u32("AllocationKind").named(&GC_ALLOCATION_KIND_MAP), u16("ClrInstanceID"), pointer("TypeID"),
        utf16("TypeName"), pointer("Address"), u64("ObjectSize").hex().bytes(),
        u64("SampledByteOffset").hex(),
    ]), // since 5.0+; seen 10.0
];
