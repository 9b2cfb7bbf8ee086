import GatewayAPI
import IoTCore
import IoTLink

import enum ThingModel.ModelMethod

extension HubClient {
    /// - Parameter user: another account, for an administrator.
    func devices(
        of user: AccessID? = nil, _ page: PageRequest = .all
    ) async throws(IoTError) -> Page<DeviceSummary> {
        let page = try await self.page(
            ModelMethod.listDevices, ["user": .text(user?.rawValue)], page, key: "devices", name: "name")
        return Page(page.elements.compactMap { DeviceSummary(json: $0) }, next: page.next)
    }
}

extension DeviceSummary {
    /// `nil` for an answer that is no device.
    init?(json: JSONValue) {
        guard let id = json["id"]?.stringValue else { return nil }
        let presenceSince = json["presenceSince"]?.integerValue
        let (state, since, reason) = Self.state(json)
        self.init(
            id: id, name: json["name"]?.stringValue ?? id, role: json["role"]?.stringValue ?? "", state: state,
            // A camera that has connected again tells its source's times anew.
            stateSince: since.map { max($0, presenceSince ?? $0) } ?? presenceSince, reason: reason,
            presenceSince: presenceSince, actions: DeviceAction.list(json["actions"]), owner: json["owner"]?.stringValue
        )
    }

    /// What a camera's own report says counts only while the camera is connected.
    private static func state(_ json: JSONValue) -> (state: DeviceState, since: Int64?, reason: IoTError?) {
        guard json["online"]?.boolValue == true else { return (.offline, nil, nil) }
        guard let source = json["source"] else { return (.ready, nil, nil) }
        let state = source["state"]?.stringValue.flatMap(DeviceState.init(rawValue:)) ?? .connecting
        let since = source["since"]?.integerValue.map { $0.multipliedReportingOverflow(by: 1000).partialValue }
        guard state == .failed else { return (state, since, nil) }
        let code = source["code"]?.integerValue.map { ErrorCode(rawValue: Int(clamping: $0)) }
        return (state, since, IoTError(code ?? .sourceUnreachable))
    }
}
