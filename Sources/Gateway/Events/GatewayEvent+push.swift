import GatewayAPI
import IoTCore
import IoTLink

import enum ThingModel.EventMethod
import enum ThingModel.MessageMethod
import enum ThingModel.ModelMethod

extension GatewayEvent {
    /// What a push of the hub tells; `nil` for one that is for others, or damaged.
    init?(_ push: LinkPush) {
        let params = push.params
        guard let device = params["device"]?.stringValue else { return nil }
        switch push.method {
        case ModelMethod.update.name:
            guard let path = params["path"]?.stringValue, let version = params["version"]?.integerValue else {
                return nil
            }
            let leaves = params["changes"]?.arrayValue?.compactMap { change -> LeafChange? in
                change["path"]?.stringValue.map { LeafChange(path: $0, value: change["value"] ?? .null) }
            }
            self = .property(
                PropertyUpdate(
                    device: device, path: path, value: params["value"] ?? .null, version: version, changes: leaves))
        case ModelMethod.presence.name:
            guard let online = params["online"]?.boolValue else { return nil }
            self = .presence(DevicePresence(device: device, online: online))
        case EventMethod.event.name:
            guard let event = StoredEvent(json: params) else { return nil }
            self = .event(event)
        case MessageMethod.data.name:
            guard let data = params["data"]?.stringValue else { return nil }
            self = .data(DeviceData(device: device, data: data))
        case DeviceMethod.bound.name:
            self = .binding(
                BindingChange(
                    device: device, bound: true, name: params["name"]?.stringValue,
                    role: params["role"]?.stringValue, actions: DeviceAction.list(params["actions"])))
        case DeviceMethod.unbound.name:
            self = .binding(BindingChange(device: device, bound: false, reason: params["reason"]?.stringValue))
        default: return nil
        }
    }
}

extension StoredEvent {
    /// As the hub tells it; its ids are texts or numbers.
    init?(json: JSONValue) {
        guard let device = json["device"]?.stringValue, let topic = json["topic"]?.stringValue,
            let t = json["t"]?.integerValue,
            let id = json["id"]?.stringValue ?? json["id"]?.integerValue.map({ String($0) })
        else { return nil }
        self.init(id: id, device: device, topic: topic, body: json["body"] ?? .null, t: t)
    }
}

extension DeviceAction {
    /// Those that this version knows; `nil` for what is no list.
    static func list(_ json: JSONValue?) -> [DeviceAction]? {
        json?.arrayValue?.compactMap { $0.stringValue.flatMap { DeviceAction(rawValue: $0) } }
    }
}
