import ArgumentParser
import GatewayAPI

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of the daemon, of its link, and of its hub and broker.",
        discussion: """
            EXAMPLES
              iotctl status
              iotctl status --json | jq .link.name
            """)

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let status = try await options.withClient { try await $0.get(StatusResponse.self, APIPath("v1", "status")) }
        if options.json { return try Console.printJSON(status) }
        try Console.print(Self.text(status))
    }

    static func text(_ status: StatusResponse) -> String {
        var pairs = [
            ("version", status.version),
            ("uptime", Format.uptime(status.uptime)),
            ("link", describe(status.link)),
            ("hub", describe(status.hub, link: status.link)),
        ]
        // A box that has joined another box's hub has no broker.
        if let broker = status.broker { pairs.append(("broker", describe(broker))) }
        let online = status.camerasOnline.map { status.cameras > 0 ? ", \($0) online" : "" } ?? ""
        pairs += [("cameras", "\(status.cameras)\(online)"), ("channels", String(status.channels))]
        if let calls = status.calls { pairs.append(("calls", String(calls))) }
        if let key = status.key { pairs.append(("key", "\(key)")) }
        let used = status.shared?.filter { $0.value.used > 0 } ?? [:]
        if !used.isEmpty { pairs.append(("in use", describe(used))) }
        return Table.pairs(pairs)
    }

    /// The use by all accounts together, sorted by name.
    private static func describe(_ shared: [String: SharedUse]) -> String {
        shared.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.used) of \($0.value.bound)" }
            .joined(separator: ", ")
    }

    private static func describe(_ link: LinkState) -> String {
        if link.cause == "notRegistered" { return "none: this box acts for no account" }
        let status = "\(link.name) (\(link.cause)) since \(Format.time(link.since)) as \(link.accessId)"
        if let reason = link.reason { return "\(status); \(reason.error)" }
        if link.cause == "unregistered" { return "\(status); run `iotctl link register` to register again" }
        return status
    }

    private static func describe(_ hub: HubState, link: LinkState) -> String {
        guard hub.enabled else { return "on another box" + (link.endpoint.map { ", at \($0)" } ?? "") }
        var words = [hub.ready ? "ready" : "starting"]
        if let devices = hub.devices { words.append("\(devices) devices, \(hub.devicesOnline ?? 0) online") }
        if let endpoint = hub.endpoint { words.append("at \(endpoint)") }
        return words.joined(separator: ", ")
    }

    private static func describe(_ broker: BrokerState) -> String {
        var words = [broker.state.rawValue]
        if let version = broker.version { words.append(version) }
        if let process = broker.process { words.append("process \(process)") }
        if broker.restarts > 0 { words.append("restarted \(broker.restarts) times") }
        if let reason = broker.reason { words.append("\(reason.error)") }
        return words.joined(separator: ", ")
    }
}
