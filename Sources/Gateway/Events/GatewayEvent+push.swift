import GatewayAPI
import IoTCore
import IoTLink
import ThingModel

extension GatewayEvent {
    /// The event of a push from the hub; `nil` for a malformed push, or one that is not an event of the API.
    init?(_ push: LinkPush) {
        if let update = ModelMethod.update.parameters(of: push) {
            self = .property(
                PropertyUpdate(
                    device: update.device.rawValue, path: update.path, value: update.value, version: update.version,
                    changes: update.changes?.map { GatewayAPI.LeafChange(path: $0.path, value: $0.value ?? .null) }))
        } else if let presence = ModelMethod.presence.parameters(of: push) {
            self = .presence(DevicePresence(device: presence.device.rawValue, online: presence.isOnline))
        } else if let event = EventMethod.event.parameters(of: push) {
            self = .event(StoredEvent(event))
        } else if let data = MessageMethod.data.parameters(of: push) {
            self = .data(
                GatewayAPI.DeviceData(
                    device: data.device.rawValue, data: GatewayAPI.MessageData(data.content).data))
        } else if let bound = DeviceMethod.bound.parameters(of: push) {
            self = .binding(
                BindingChange(
                    device: bound.device.rawValue, bound: true, name: bound.name, role: bound.role,
                    actions: bound.actions))
        } else if let unbound = DeviceMethod.unbound.parameters(of: push) {
            self = .binding(BindingChange(device: unbound.device.rawValue, bound: false, reason: unbound.reason))
        } else {
            return nil
        }
    }
}

extension StoredEvent {
    init(_ event: ThingEvent) {
        self.init(id: String(event.id), device: event.device.rawValue, topic: event.topic, body: event.body, t: event.t)
    }
}
