import GatewayAPI
import IoTCore

/// Tells the caller of a live call that somebody must accept it first. Without this, the missing picture would look like
/// a failure.
struct RingingNotice: Encodable {
    let event = "ringing"
    let channel: String
    let device: String

    init(_ channel: ChannelDescription) {
        self.channel = channel.id
        device = channel.deviceName
    }

    func show(_ plan: MonitorPlan) throws {
        guard plan.printsJSON, !plan.usesStandardOutput else {
            return Console.note("the call rings at \(device), until somebody accepts it: for 30 s at most")
        }
        try Console.print(String(decoding: try APICoding.encode(self), as: UTF8.self))
    }
}
