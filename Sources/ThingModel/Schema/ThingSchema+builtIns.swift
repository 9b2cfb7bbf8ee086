import IoTCore

extension ThingSchema {
    /// The name of the built-in user property, which holds the platform's notes about a device: `ProUser._buildIn`.
    public static let builtInUserProperty = "_buildIn"

    /// The properties of every device. The spellings `_cloudStoage` and `_buildIn`, and the types, are the vendor's.
    static let builtIns: [PropertySchema] = [
        .constant(
            "_productInfo",
            .structure(
                "_productInfo_t",
                [
                    .init("productModel", .string(64)), .init("productID", .string(64)), .init("funcCode", .uint32),
                    .init("revision", .uint32), .init("revisionUtc", .uint32),
                ]), "the product"),
        .constant(
            "_versionInfo",
            .structure(
                "_versionInfo_t", [.init("sdkVer", .uint32), .init("swVer", .uint32), .init("hwVer", .uint32)]),
            "the versions of library, software and hardware"),
        .writable("_otaMode", .int32, "how updates are made"),
        .writable("_logLevel", .int32(0...6), "how much the device logs: 1 critical to 6 everything, 0 as the rest"),
        .writable(
            "_cloudStoage",
            .structure(
                "_cloudStoage_t",
                [
                    .init("serviceType", .int32), .init("utcExpire", .uint32), .init("pause", .int32),
                    .init("serviceParm", .string(256)),
                ]), "the recording service"),
        .readonly("_online", .int32(0...2), "0 offline, 1 online, 2 sleeping"),
        .action("_otaVersion", .string(32), "asks for the newest firmware version"),
        .readonly("_otaVersion", .string(32), "the newest firmware version"),
        .action("_otaUpgrade", .int32, "1 updates the firmware, 0 cancels the update"),
        .readonly(
            "_otaUpgrade", .int32, "an update's progress, 0 to 100, or the number of the error with which it ended"),
    ]

    /// The typed members of `ProUser._buildIn.val`. Any other member may be added.
    static let builtInUserMembers: [String: ValueSchema] = ["almEvtPushEna": .int32, "nickName": .string(256)]
}
