import IoTCore
import IoTLink
import Logging
import Synchronization

/// Callers on the device's own network, who ask the device itself (`docs/lan.md`). The connection has checked their
/// rights.
extension DeviceModel {
    func handleCallersOnTheNetwork() {
        link.handle(ModelMethod.read) { [weak self] query, request throws(IoTError) in
            guard let self else { throw IoTError(.stopping) }
            _ = try Self.caller(of: request)
            return try self.read(query.path)
        }
        link.handle(ModelMethod.write) { [weak self] order, request throws(IoTError) in
            guard let self else { throw IoTError(.stopping) }
            return try await self.write(order, by: try Self.caller(of: request))
        }
    }

    /// The hub answers these methods itself.
    private static func caller(of request: LinkRequest) throws(IoTError) -> Principal {
        guard let caller = request.grant?.from else {
            throw IoTError(.invalidRequest, "\(request.method) is for callers on the local network")
        }
        return caller
    }

    /// - Returns: of a setting the hub's version, of anything else the device's own.
    private func read(_ path: String) throws(IoTError) -> PropertyReading {
        let document = self.document
        var reading = try document.read(path)
        if let object = try PropertyPath(parsing: path).objectPath, PropertyClass(ofPath: object) == .writable {
            reading.version = document.appliedVersions[object] ?? 0
        }
        return reading
    }

    /// Applies a setting, and keeps it for the hub.
    ///
    /// - Throws: 20105 for a built-in setting; 20016 for a user property, which only the hub stores; 25014 with
    ///   `ifVersion` for a setting that has another version of the hub, or one that the hub does not know yet.
    private func write(_ order: PropertyWrite, by user: Principal) async throws(IoTError) -> WriteOutcome {
        let path = try PropertyPath(parsing: order.path)
        guard path.propertyClass != .user else {
            throw IoTError(
                .lanNotAllowed, "user properties are stored at the hub", remedy: "write it when the hub is back")
        }
        guard path.propertyClass == .writable, let name = path.object else {
            // The same refusal as the hub's.
            var trial = document
            _ = try trial.write(order.path, order.value, at: now())
            throw IoTError(.pathInvalid)
        }
        guard !name.hasPrefix("_") else {
            throw IoTError(.builtInNotWritable, "\(path) cannot be written over the local network")
        }
        guard await enterWrite(name) else {
            throw IoTError(.deviceBusy, "too many writes to ProWritable.\(name) are waiting")
        }
        defer { state.withLock { $0.leaveWrite(name) } }
        let t = now()
        let (value, handler) = try state.withLock { state throws(IoTError) in
            try Self.check(order.ifVersion, of: name, in: state)
            var trial = state.document
            _ = try trial.write(order.path, order.value, at: t)
            return (try trial.read("ProWritable.\(name).setVal").value, state.writeHandlers[name])
        }
        if let handler { try await Self.rethrowing("ProWritable.\(name)") { try await handler(value) } }
        let write = LANWrite(user: user, path: "ProWritable.\(name).setVal", value: value, t: t)
        let object = try state.withLock { state throws(IoTError) in
            try state.wrote(name, write)
            return try state.document.read("ProWritable.\(name)").value
        }
        waker.yield()
        return WriteOutcome(
            version: document.appliedVersions["ProWritable.\(name)"] ?? 0, value: object, isPending: false)
    }

    private static func check(
        _ version: Int64?, of name: String, in state: DeviceModelState
    ) throws(IoTError) {
        guard let version else { return }
        let applied = state.document.appliedVersions["ProWritable.\(name)"] ?? 0
        guard state.untold[name] == nil, applied == version else {
            let value = try state.document.read("ProWritable.\(name)").value
            throw .versionConflict(
                VersionConflict(path: "ProWritable.\(name)", value: value, version: applied), expected: version)
        }
    }

    /// Tells the hub of a setting. If the hub refuses it, the device logs in again and gets the hub's own, unless a newer
    /// one was written meanwhile.
    func tellHub(_ name: String, _ write: LANWrite) async throws(IoTError) {
        do throws(IoTError) {
            _ = try await link.request(LANMethod.written, write)
            state.withLock { $0.told(name, write) }
        } catch {
            switch error.code {
            case .relationInvalid, .versionConflict, .pathInvalid, .valueInvalid, .invalidRequest, .payloadTooLarge:
                logger.notice(
                    "the hub does not take a setting that was written over the local network",
                    metadata: ["model.property": "\(name)", "link.reason": "\(error.message)"])
                state.withLock { $0.takeBack(name, write) }
            default: throw error
            }
        }
    }
}
