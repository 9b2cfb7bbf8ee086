import IoTCore
import IoTLink
import ThingModel

/// A request that a device on the network can answer instead of the hub.
enum LANRoute {
    case list
    case show(device: String)
    case callToken(device: String)
    /// A property or an action.
    case device(String)
    /// The request that begins a call.
    case connect(device: String, session: String)
    case inCall(session: String)

    /// `nil` for a request that only the hub answers.
    init?(_ method: String, _ params: JSONValue) {
        let device = params["device"]?.stringValue
        let session = params["session"]?.stringValue
        switch (method, device, session) {
        case (ModelMethod.listDevices.name, _, _) where params["user"] == nil: self = .list
        case (ModelMethod.showDevice.name, let device?, _): self = .show(device: device)
        case (CallMethod.token.name, let device?, _): self = .callToken(device: device)
        case (ModelMethod.read.name, let device?, _), (ModelMethod.write.name, let device?, _),
            (ModelMethod.takeAction.name, let device?, _):
            self = .device(device)
        case (CallMethod.connect.name, let device?, let session?):
            self = .connect(device: device, session: session)
        case (CallMethod.control.name, _, let session?), (CallMethod.trickle.name, _, let session?),
            (CallMethod.end.name, _, let session?):
            self = .inCall(session: session)
        default: return nil
        }
    }

    /// The id or name of the device that the request names.
    var device: String? {
        switch self {
        case .show(let device), .callToken(let device), .device(let device), .connect(let device, _): device
        case .list, .inCall: nil
        }
    }
}
