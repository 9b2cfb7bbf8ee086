import IoTCore
import NIOCore

/// One task over wpa_supplicant's control interface (https://w1.fi/wpa_supplicant/devel/ctrl_iface_page.html): a scan,
/// or joining a network. Owns no socket or clock.
struct SupplicantSession: Sendable {
    enum Goal: Sendable {
        case scan
        case join(WiFiCredentials)
    }

    enum Output: Sendable, Equatable {
        /// A command. Some contain the password, so none is logged.
        case send(String)
        case timeout(NIODeadline)
        case networks([WiFiNetwork])
        case joined(WiFiOutcome)
    }

    private enum Step: Sendable, Equatable {
        case attach, scan, scanning, results
        case add, set(Int), select, joining, save, status
        /// After a failure: the new network is removed, the others are enabled again.
        case remove(WiFiOutcome), enable(WiFiOutcome)
        case done
    }

    private static let replyTime = TimeAmount.seconds(5)
    private static let scanTime = TimeAmount.seconds(15)
    private static let joinTime = TimeAmount.seconds(45)
    /// The number of scans without the network until the task fails.
    private static let searches = 3

    private let goal: Goal
    private var step = Step.attach
    private var outputs: [Output] = []
    private var due = NIODeadline.distantFuture
    private var identifier = ""
    private var settings: [(name: String, value: String, fallback: String?)] = []
    private var isFallback = false
    private var missing = 0
    private var refusals = 0

    init(_ goal: Goal, at now: NIODeadline) {
        self.goal = goal
        send("ATTACH", .attach, at: now)
    }

    mutating func poll() -> Output? {
        outputs.isEmpty ? nil : outputs.removeFirst()
    }

    private mutating func send(_ command: String, _ step: Step, at now: NIODeadline) {
        self.step = step
        due = now + Self.replyTime
        outputs.append(.send(command))
        outputs.append(.timeout(due))
    }

    private mutating func wait(_ step: Step, _ time: TimeAmount, at now: NIODeadline) {
        self.step = step
        due = now + time
        outputs.append(.timeout(due))
    }

    mutating func timeout(at now: NIODeadline) {
        guard step != .done else { return }
        guard now >= due else { return outputs.append(.timeout(due)) }
        switch step {
        case .scanning: send("SCAN_RESULTS", .results, at: now)
        case .joining:
            fail(missing > 0 ? .networkNotFound : .failed("wpa_supplicant did not join the network in time"), at: now)
        case .remove(let outcome), .enable(let outcome): finish(outcome)
        case .save, .status: finish(.connected(connection([:])))
        default: finish(.failed("wpa_supplicant does not answer"))
        }
    }

    /// A datagram: `<3>CTRL-EVENT-…` is an event, anything else is the answer to the last command.
    mutating func receive(_ text: String, at now: NIODeadline) {
        guard step != .done else { return }
        if text.first == "<", let end = text.firstIndex(of: ">") {
            event(text[text.index(after: end)...], at: now)
        } else {
            reply(text.drop { $0 == "\n" }, at: now)
        }
    }

    // MARK: Events

    private mutating func event(_ event: Substring, at now: NIODeadline) {
        switch step {
        case .scanning:
            if event.hasPrefix("CTRL-EVENT-SCAN-RESULTS") { send("SCAN_RESULTS", .results, at: now) }
            if event.hasPrefix("CTRL-EVENT-SCAN-FAILED") { finish(networks: []) }
        case .joining:
            if event.hasPrefix("CTRL-EVENT-CONNECTED") {
                // Refused if wpa_supplicant may not write its configuration; the network is joined nevertheless.
                send("SAVE_CONFIG", .save, at: now)
            } else if event.hasPrefix("CTRL-EVENT-SSID-TEMP-DISABLED"), event.contains("id=\(identifier) ") {
                if event.contains("reason=WRONG_KEY") || event.contains("reason=AUTH_FAILED") {
                    fail(.wrongPassword, at: now)
                }
            } else if event.hasPrefix("CTRL-EVENT-NETWORK-NOT-FOUND") {
                missing += 1
                if missing >= Self.searches { fail(.networkNotFound, at: now) }
            } else if event.hasPrefix("CTRL-EVENT-ASSOC-REJECT") {
                // SAE's wrong password is a refused association (IEEE 802.11 status 15, or 1 of some drivers).
                refusals += 1
                if event.contains("status_code=15") || refusals >= Self.searches { fail(.wrongPassword, at: now) }
            }
        default:
            return
        }
    }

    // MARK: Replies

    private mutating func reply(_ reply: Substring, at now: NIODeadline) {
        let isOK = reply.hasPrefix("OK")
        switch step {
        case .attach:
            guard isOK else { return finish(.failed("wpa_supplicant refuses our socket")) }
            switch goal {
            case .scan: send("SCAN", .scan, at: now)
            case .join: send("ADD_NETWORK", .add, at: now)
            }
        case .scan:
            // Busy: a scan is running, whose results can be used.
            guard isOK || reply.hasPrefix("FAIL-BUSY") else { return finish(networks: []) }
            wait(.scanning, Self.scanTime, at: now)
        case .results:
            finish(networks: Self.networks(reply))
        case .add:
            let number = reply.prefix { $0.isNumber }
            guard !number.isEmpty, number.count <= 9, case .join(let credentials) = goal else {
                return finish(.failed("wpa_supplicant takes no network"))
            }
            identifier = String(number)
            settings = Self.settings(credentials)
            set(0, at: now)
        case .set(let place):
            if !isOK, !isFallback, let fallback = settings[place].fallback {
                isFallback = true
                return send("SET_NETWORK \(identifier) \(settings[place].name) \(fallback)", step, at: now)
            }
            isFallback = false
            guard isOK || settings[place].name == "ieee80211w" else {
                return fail(.failed("wpa_supplicant refuses the network's \(settings[place].name)"), at: now)
            }
            set(place + 1, at: now)
        case .select:
            guard isOK else { return fail(.failed("wpa_supplicant does not select the network"), at: now) }
            wait(.joining, Self.joinTime, at: now)
        case .save:
            send("STATUS", .status, at: now)
        case .status:
            finish(.connected(connection(Self.pairs(reply))))
        case .remove(let outcome):
            send("ENABLE_NETWORK all", .enable(outcome), at: now)
        case .enable(let outcome):
            finish(outcome)
        case .scanning, .joining, .done:
            return
        }
    }

    private mutating func set(_ place: Int, at now: NIODeadline) {
        guard place < settings.count else { return send("SELECT_NETWORK \(identifier)", .select, at: now) }
        let setting = settings[place]
        send("SET_NETWORK \(identifier) \(setting.name) \(setting.value)", .set(place), at: now)
    }

    private static func settings(
        _ credentials: WiFiCredentials
    ) -> [(name: String, value: String, fallback: String?)] {
        let name: [(name: String, value: String, fallback: String?)] = [
            ("ssid", Hex.encode(Array(credentials.ssid.utf8)), nil),
            // A hidden network is probed for by its name.
            ("scan_ssid", "1", nil),
        ]
        guard !credentials.password.isEmpty else { return name + [("key_mgmt", "NONE", nil)] }
        let isKey = credentials.password.utf8.count == 64
        return name + [
            // Builds without WPA3 refuse this value.
            ("key_mgmt", "WPA-PSK WPA-PSK-SHA256 SAE", "WPA-PSK"),
            ("ieee80211w", "1", nil),
            // Read up to the last quotation mark, because the password may contain some.
            ("psk", isKey ? credentials.password : "\"\(credentials.password)\"", nil),
        ]
    }

    private mutating func fail(_ outcome: WiFiOutcome, at now: NIODeadline) {
        send("REMOVE_NETWORK \(identifier)", .remove(outcome), at: now)
    }

    private mutating func finish(_ outcome: WiFiOutcome) {
        step = .done
        if case .scan = goal { return outputs.append(.networks([])) }
        outputs.append(.joined(outcome))
    }

    private mutating func finish(networks: [WiFiNetwork]) {
        step = .done
        outputs.append(.networks(networks))
    }

    private func connection(_ status: [Substring: Substring]) -> WiFiConnection {
        guard case .join(let credentials) = goal else { return WiFiConnection(ssid: []) }
        return WiFiConnection(
            address: String(status["ip_address"] ?? ""), ssid: Array(credentials.ssid.utf8),
            bssid: status["bssid"].flatMap { Hex.decode($0.filter { $0 != ":" }) } ?? [],
            channel: status["freq"].flatMap { Int($0) }.map(SupplicantTable.channel) ?? 0)
    }

    private static func pairs(_ text: Substring) -> [Substring: Substring] {
        Dictionary(
            text.split(separator: "\n").compactMap { line in
                line.firstIndex(of: "=").map { (line[..<$0], line[line.index(after: $0)...]) }
            }, uniquingKeysWith: { first, _ in first })
    }

    private static func networks(_ text: Substring) -> [WiFiNetwork] {
        text.split(separator: "\n").compactMap(SupplicantTable.network).sorted { $0.rssi > $1.rssi }
    }
}
