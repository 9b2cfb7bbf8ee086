import GatewayAPI
import IoTCore
import ThingModel

extension HubClient {
    /// - Parameter user: another account; only for administrators.
    func devices(
        of user: AccessID? = nil, _ page: PageRequest = .all
    ) async throws(IoTError) -> Page<GatewayAPI.DeviceSummary> {
        let page = try await self.page(ModelMethod.listDevices, page, of: user)
        return Page(page.elements.map { GatewayAPI.DeviceSummary($0) }, next: page.next)
    }
}

extension GatewayAPI.DeviceSummary {
    init(_ device: ThingModel.DeviceSummary) {
        let (state, since, reason) = Self.state(of: device)
        self.init(
            id: device.id.rawValue, name: device.name, role: device.role?.rawValue ?? "", state: state,
            // The source's time may be from before the camera's last connection.
            stateSince: since.map { max($0, device.presenceSince ?? $0) } ?? device.presenceSince, reason: reason,
            presenceSince: device.presenceSince, actions: device.actions, owner: device.owner?.rawValue)
        local = device.isLocal ? true : nil
    }

    /// A camera's own report is valid only while the camera is connected.
    private static func state(
        of device: ThingModel.DeviceSummary
    ) -> (state: DeviceState, since: Int64?, reason: IoTError?) {
        guard device.isOnline else { return (.offline, nil, nil) }
        guard let source = device.source else { return (.ready, nil, nil) }
        let state = DeviceState(rawValue: source.state) ?? .connecting
        let since = source.since.map { $0.multipliedReportingOverflow(by: 1000).partialValue }
        guard state == .failed else { return (state, since, nil) }
        let code = source.code.map { ErrorCode(rawValue: Int(clamping: $0)) }
        return (state, since, IoTError(code ?? .sourceUnreachable))
    }
}
