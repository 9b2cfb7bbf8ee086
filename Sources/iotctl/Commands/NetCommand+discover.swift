import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

extension NetCommand {
    struct Discover: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Find the cameras on the networks of the daemon's machine.",
            discussion: """
                Finds ONVIF cameras, cameras that DNS-SD announces and other machines with
                iotvideod, one row each, and says what to do next: add a camera to this daemon,
                bind an iotvideod camera that nobody owns, or provision a new one. Some devices
                take half a second to answer.

                With --watch it repeats the search and prints devices that appear, change or
                disappear, until interrupted.

                EXAMPLES
                  iotctl net discover
                  iotctl net discover --timeout 10s --json | jq '.devices[].addresses[0]'
                  iotctl net discover --watch
                """)

        @Option(
            help: ArgumentHelp("How long to wait for answers, 1s to 30s. (default: 3s)", valueName: "time"),
            transform: DurationArgument.parse)
        var timeout = DurationArgument(.milliseconds(DiscoveryRequest.defaultTimeout))

        @Flag(help: "Search until interrupted.")
        var watch = false

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            guard DiscoveryRequest.range.contains(timeout.milliseconds) else {
                throw ValidationError("--timeout must be 1s to 30s")
            }
        }

        func run() async throws {
            try await options.withClient { client in
                if watch { return try await follow(client) }
                let report = try await search(client)
                if options.json { return try Console.printJSON(report) }
                Self.warn(report)
                try Console.print(Self.table(report.devices))
                for line in Self.hints(report.devices) { try Console.print(line) }
            }
        }

        private func search(_ client: GatewayClient) async throws -> DiscoveryReport {
            try await client.call(
                .POST, APIPath("v1", "discoveries"), DiscoveryRequest(timeoutMilliseconds: timeout.milliseconds),
                timeout: timeout.duration + .seconds(15))
        }

        /// Explains an empty result.
        private static func warn(_ report: DiscoveryReport) {
            if report.interfaces.isEmpty {
                Console.note("warning: the daemon's machine has no network to search")
            } else if report.devices.isEmpty {
                Console.note(
                    "no camera was found; check that the network forwards multicast, and that the firewall lets UDP ports "
                        + "3702 and 5353 in")
            }
        }

        /// A device has gone if two searches in a row have not found it, because answers are sometimes lost.
        private func follow(_ client: GatewayClient) async throws {
            var known: [(device: FoundDevice, misses: Int)] = []
            var isFirst = true
            while true {
                let before = known
                let report = try await search(client)
                if isFirst, !options.json { Self.warn(report) }
                isFirst = false
                known = report.devices.map { ($0, 0) }
                for (device, _) in known {
                    let old = before.first { Self.isOne($0.device, device) }?.device
                    if old == nil { try show("found", device) } else if old != device { try show("changed", device) }
                }
                for (device, misses) in before where !known.contains(where: { Self.isOne($0.device, device) }) {
                    if misses == 0 { known.append((device, 1)) } else { try show("gone", device) }
                }
            }
        }

        /// One protocol's answer may be lost, and with it some of the device's identities.
        private static func isOne(_ left: FoundDevice, _ right: FoundDevice) -> Bool {
            if left.identities.isEmpty, right.identities.isEmpty {
                return left.addresses.first == right.addresses.first
            }
            return !Set(left.identities).isDisjoint(with: right.identities)
        }

        private struct Change: Encodable {
            var change: String
            var device: FoundDevice
        }

        private func show(_ change: String, _ device: FoundDevice) throws {
            if options.json { return try Console.printJSONLine(Change(change: change, device: device)) }
            let words = Self.cells(device).filter { $0 != "-" }.joined(separator: "  ")
            try Console.print(Table.pairs([(change, words)]))
        }

        // MARK: Output

        private static func table(_ devices: [FoundDevice]) -> Table {
            var table = Table("ADDRESS", "NAME", "MODEL", "FOUND BY", "NEXT", "ID")
            for device in devices {
                let cells = cells(device)
                table.append(cells[0], cells[1], cells[2], cells[3], cells[4], cells[5])
            }
            return table
        }

        static func cells(_ device: FoundDevice) -> [String] {
            let model = [device.manufacturer, device.model].compactMap { $0 }.joined(separator: " ")
            let protocols = device.foundBy.map { $0 == "wsDiscovery" ? "WS-Discovery" : $0 == "dnsSD" ? "DNS-SD" : $0 }
            let next =
                device.camera.map { "is camera \($0)" } ?? (device.next == .none ? "yours" : device.next.rawValue)
            return [
                device.addresses.first ?? "-", device.name ?? "-", model.isEmpty ? "-" : model,
                protocols.joined(separator: ", "), next, device.deviceID ?? device.macAddress ?? "-",
            ]
        }

        /// Quoted for a shell: the text comes from a stranger, and users copy the command.
        private static func quoted(_ url: String) -> String {
            let isPlain = url.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || [0x2D, 0x2E, 0x2F, 0x3A, 0x5F].contains(byte)
            }
            return isPlain ? url : "'" + url.replacing("'", with: "%27") + "'"
        }

        /// The command for each device for which there is a next step.
        static func hints(_ devices: [FoundDevice]) -> [String] {
            devices.compactMap { device in
                switch device.next {
                case .add:
                    if let onvif = device.onvif {
                        return "add: iotctl camera add NAME --onvif \(quoted(onvif)) --username USER --password-file -"
                    }
                    let rtsp = device.serviceURLs.first { $0.hasPrefix("rtsp:") }
                    return rtsp.map { "add: iotctl camera add NAME \(quoted($0)) --username USER --password-file -" }
                case .bind: return "bind: iotctl device bind \(device.deviceID ?? "ID") USER"
                case .provision:
                    let host = device.addresses.first ?? "ADDRESS"
                    let port = device.port.map { $0 == 80 ? "" : " --port \($0)" } ?? ""
                    return "provision: iotctl net add --way lan --host \(quoted(host))\(port) --pop-file FILE"
                case .owned, .none, .unknown: return nil
                }
            }
        }
    }
}
