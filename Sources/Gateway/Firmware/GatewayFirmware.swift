package import GatewayAPI
package import IoTCore

/// Releases of firmware, and what they are for.
package protocol GatewayFirmware: Sendable {
    func list(_ page: PageRequest) async throws -> Page<ReleaseDescription>
    /// Adds a release without its file; one that is already there is returned.
    func add(_ request: ReleaseRequest, requestID: String?) async throws -> ReleaseDescription
    func show(_ id: String) async throws -> ReleaseDescription
    /// Takes the next part of a release's file.
    func receive(_ part: ReleasePart, of id: String) async throws -> ReleaseDescription
    func open(_ id: String) async throws -> RangedFile
    func remove(_ id: String, requestID: String?) async throws
    /// The newest release for a device.
    func newest(for device: String, currentVersion: String?, language: String?) async throws -> FirmwareOffer
}

/// A part of a file.
package struct ReleasePart: Sendable {
    /// Its place in the file.
    package var offset: Int64
    package var bytes: [UInt8]
    /// The size of the whole file; `nil` if the sender does not say.
    package var total: Int64?

    package init(offset: Int64, bytes: [UInt8], total: Int64?) {
        self.offset = offset
        self.bytes = bytes
        self.total = total
    }
}
