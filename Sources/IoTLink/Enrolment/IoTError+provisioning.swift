public import IoTCore

extension IoTError {
    /// 21103 for a failure of the hub itself. A hub that cannot store its decision has not used up the token.
    public var duringProvisioning: IoTError {
        guard [.storeFailed, .internalFailure].contains(code) else { return self }
        return IoTError(
            .provisioningServer, message, remedy: "try again; read the hub's log", underlying: self)
    }
}
