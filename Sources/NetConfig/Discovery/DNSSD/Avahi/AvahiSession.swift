import Glibc
import IoTCore

/// The requests to the Avahi daemon, and its answers. Confined to one thread.
///
/// If an object must be freed, its callbacks only set a flag: `update()` frees it afterwards.
final class AvahiSession {
    private struct Group {
        var announcement: ServiceAnnouncement
        var attempt: Int
        var pointer: OpaquePointer
    }

    /// Avahi resolves a service for each interface and IP version.
    private struct Sight: Hashable {
        var key: ServiceKey
        var interface: CInt
        var ipVersion: CInt

        var link: ServiceLink { ServiceLink(interface: Int(interface), isIPv6: ipVersion == Avahi.ipv6) }
    }

    var wanted = WantedServices()
    private let library: AvahiLibrary
    private let poll: OpaquePointer
    private let report: (DirectoryReport) -> Void
    private var client: OpaquePointer?
    /// The last reported state.
    private var isRunning: Bool?
    private var state: CInt = 0
    private var groups: [String: Group] = [:]
    private var taken: [String: Int] = [:]
    private var browsers: [ServiceType: OpaquePointer] = [:]
    private var resolvers: [Sight: OpaquePointer] = [:]
    private var failedBrowsers: Set<ServiceType> = []
    private var failedGroups: Set<String> = []

    private static let maximumResolvers = 512

    init(library: AvahiLibrary, poll: OpaquePointer, report: @escaping (DirectoryReport) -> Void) {
        self.library = library
        self.poll = poll
        self.report = report
    }

    /// Whether D-Bus is connected; the daemon may be down.
    var isOpen: Bool { client != nil }

    /// Sends the wanted announcements and searches to the daemon. Called after each possible change.
    func update() {
        if state == Avahi.ClientState.failure {
            // The daemon or D-Bus ended: a new client notices its return.
            close()
        }
        if client == nil { open() }
        switch state {
        case Avahi.ClientState.registering, Avahi.ClientState.collision:
            // The host's own name changes: services are announced again under the new one. The daemon runs soon.
            freeGroups()
        case Avahi.ClientState.running:
            tell(isRunning: true)
            updateGroups()
            updateBrowsers()
        default:
            tell(isRunning: false)
        }
    }

    private func tell(isRunning: Bool) {
        guard self.isRunning != isRunning else { return }
        self.isRunning = isRunning
        report(.isRunning(isRunning))
    }

    func close() {
        freeGroups()
        for resolver in resolvers.values { _ = library.freeResolver(resolver) }
        for browser in browsers.values { _ = library.freeBrowser(browser) }
        resolvers = [:]
        browsers = [:]
        taken = [:]
        if let client { library.freeClient(client) }
        client = nil
        state = 0
    }

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private static func session(_ context: UnsafeMutableRawPointer?) -> AvahiSession? {
        context.map { Unmanaged<AvahiSession>.fromOpaque($0).takeUnretainedValue() }
    }

    private func open() {
        var error: CInt = 0
        client = library.newClient(
            library.pollInterface(poll), Avahi.noFail,
            { _, state, context in AvahiSession.session(context)?.state = state }, context, &error)
        if client == nil { state = 0 }
    }

    // MARK: Announcements

    private func updateGroups() {
        for id in failedGroups {
            if let group = groups.removeValue(forKey: id) { _ = library.freeGroup(group.pointer) }
        }
        failedGroups = []
        let ids = Set(wanted.announcements.map(\.id))
        for (id, group) in groups where !ids.contains(id) {
            _ = library.freeGroup(group.pointer)
            groups[id] = nil
            taken[id] = nil
        }
        for announcement in wanted.announcements {
            if let group = groups[announcement.id] {
                let attempt = taken[announcement.id] ?? 0
                guard group.announcement != announcement || group.attempt != attempt else { continue }
                if group.announcement.name != announcement.name { taken[announcement.id] = nil }
                _ = library.freeGroup(group.pointer)
                groups[announcement.id] = nil
            }
            add(announcement)
        }
    }

    private func add(_ announcement: ServiceAnnouncement) {
        var interface = Avahi.unspecified
        if announcement.address != nil {
            let link = MulticastInterfaces.links().first { link in
                link.networks.map(\.address).contains(where: announcement.isReachable)
            }
            guard let link else { return }
            interface = CInt(clamping: link.id.interface)
        }
        // The daemon refuses a name that this machine uses already; one of another machine is reported later.
        for attempt in (taken[announcement.id] ?? 0)..<100 {
            guard
                let group = library.newGroup(
                    client,
                    { group, state, context in AvahiSession.session(context)?.changed(group, state) }, context)
            else { return }
            var strings: OpaquePointer?
            for string in announcement.text { strings = library.addString(strings, string, string.count) }
            let result = library.addService(
                group, interface, Avahi.unspecified, 0, announcement.label(attempt: attempt),
                announcement.type.rawValue, nil, nil, announcement.port, strings)
            library.freeStrings(strings)
            if result == 0, library.commitGroup(group) == 0 {
                taken[announcement.id] = attempt
                groups[announcement.id] = Group(announcement: announcement, attempt: attempt, pointer: group)
                report(.named(id: announcement.id, announcement.label(attempt: attempt)))
                return
            }
            _ = library.freeGroup(group)
            guard result == Avahi.collision else { return }
        }
    }

    private func changed(_ group: OpaquePointer?, _ state: CInt) {
        guard let id = groups.first(where: { $0.value.pointer == group })?.key else { return }
        switch state {
        case Avahi.GroupState.collision: taken[id, default: 0] += 1
        case Avahi.GroupState.failure: failedGroups.insert(id)
        default: break
        }
    }

    private func freeGroups() {
        for group in groups.values { _ = library.freeGroup(group.pointer) }
        groups = [:]
    }

    // MARK: Searches

    private func updateBrowsers() {
        for type in failedBrowsers.union(browsers.keys.filter { !wanted.types.contains($0) }) {
            guard let browser = browsers.removeValue(forKey: type) else { continue }
            _ = library.freeBrowser(browser)
            for sight in resolvers.keys where sight.key.type == type { lost(sight) }
        }
        failedBrowsers = []
        for type in wanted.types where browsers[type] == nil {
            browsers[type] = library.newBrowser(
                client, Avahi.unspecified, Avahi.unspecified, type.rawValue, nil, 0,
                { _, interface, ipVersion, event, name, type, domain, _, context in
                    AvahiSession.session(context)?.browsed(interface, ipVersion, event, name, type, domain)
                }, context)
        }
    }

    private func browsed(
        _ interface: CInt, _ ipVersion: CInt, _ event: CInt, _ name: UnsafePointer<CChar>?,
        _ type: UnsafePointer<CChar>?, _ domain: UnsafePointer<CChar>?
    ) {
        if event == Avahi.BrowserEvent.failure {
            failedBrowsers.formUnion(browsers.keys)
            return
        }
        guard let sight = sight(interface, ipVersion, name, type) else { return }
        switch event {
        case Avahi.BrowserEvent.new:
            guard resolvers[sight] == nil, resolvers.count < Self.maximumResolvers else { return }
            resolvers[sight] = library.newResolver(
                client, interface, ipVersion, name, type, domain, Avahi.unspecified, 0,
                { _, interface, ipVersion, event, name, type, _, host, address, port, strings, _, context in
                    guard event == Avahi.resolverFound, let session = AvahiSession.session(context),
                        let sight = session.sight(interface, ipVersion, name, type)
                    else { return }
                    session.found(sight, host: host, address: address, port: port, strings: strings)
                }, context)
        case Avahi.BrowserEvent.removed: lost(sight)
        default: break
        }
    }

    private func sight(
        _ interface: CInt, _ ipVersion: CInt, _ name: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?
    ) -> Sight? {
        guard let name = Self.text(name), let type = Self.text(type).flatMap(ServiceType.init(rawValue:)) else {
            return nil
        }
        return Sight(key: ServiceKey(name: name, type: type), interface: interface, ipVersion: ipVersion)
    }

    private func found(
        _ sight: Sight, host: UnsafePointer<CChar>?, address: OpaquePointer?, port: UInt16, strings: OpaquePointer?
    ) {
        guard let host = Self.text(host), let address = self.address(address, interface: sight.interface) else {
            return
        }
        report(
            .service(
                .found(
                    ServiceInstance(
                        key: sight.key, host: host, port: Int(port), addresses: [address],
                        text: ServiceText.parse(self.strings(strings)))),
                on: sight.link))
    }

    private func lost(_ sight: Sight) {
        guard let resolver = resolvers.removeValue(forKey: sight) else { return }
        _ = library.freeResolver(resolver)
        report(.service(.lost(sight.key), on: sight.link))
    }

    // MARK: Conversions

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? {
        guard let pointer else { return nil }
        return ServiceText.readable(UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
    }

    /// Avahi's lists are in reverse order.
    private func strings(_ list: OpaquePointer?) -> [[UInt8]] {
        var strings: [[UInt8]] = []
        var next = list
        while let string = next {
            if let text = library.stringText(string) {
                strings.append(Array(UnsafeBufferPointer(start: text, count: library.stringSize(string))))
            }
            next = library.nextString(string)
        }
        return strings.reversed()
    }

    private func address(_ address: OpaquePointer?, interface: CInt) -> IPAddress? {
        var text = [CChar](repeating: 0, count: 64)
        guard let address, library.addressText(&text, text.count, address) != nil else { return nil }
        let written = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard written.hasPrefix("fe80:") else { return IPAddress(written) }
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(UInt32(clamping: interface), &name) != nil else { return nil }
        let zone = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return IPAddress("\(written)%\(zone)")
    }
}
