extension WSDTarget {
    /// The prefix of our scopes: `iotlink://camera/deviceID/…`.
    static let scopePrefix = "iotlink://camera/"

    init(_ camera: AnnouncedCamera) {
        let facts = [
            ("deviceID", camera.deviceID), ("productID", camera.productID), ("serialNumber", camera.serialNumber),
            ("name", camera.name), ("version", camera.version), ("macAddr", camera.macAddress),
            ("hasOwner", camera.hasOwner ? "true" : "false"),
        ]
        self.init(
            endpoint: WSDIdentifier.address(camera.deviceID), types: [WSDNamespace.camera],
            scopes: facts.compactMap { key, value in value.map { Self.scopePrefix + key + "/" + WSDScope.encoded($0) } }
        )
    }
}
