import IoTCore
import TestSupport
import Testing

@testable import NetConfig

@Suite struct DiscoveryTableTests {
    private func device(
        _ identities: Set<String> = [], at addresses: [String], by found: DiscoveryProtocol = .wsDiscovery,
        name: String? = nil, urls: [String] = []
    ) -> DiscoveredDevice {
        DiscoveredDevice(
            identities: identities, name: name, addresses: addresses.compactMap { IPAddress($0) }, serviceURLs: urls,
            foundBy: [found])
    }

    private func rows(_ devices: [DiscoveredDevice]) -> [DiscoveredDevice] {
        var table = DiscoveryTable()
        for device in devices { table.add(device) }
        return table.devices
    }

    @Test(
        "The host of a camera's source is found even if the login is hidden",
        arguments: ["rtsp://192.0.2.9:8554/main", "rtsp://…@192.0.2.9/main", "rtsp://admin@192.0.2.9/main"])
    func hosts(url: String) {
        #expect(ServiceAddress.host(of: url) == "192.0.2.9")
    }

    @Test("One device is one row, by whatever interface and protocol it was found, in whatever order")
    func oneRow() {
        var sightings = [
            device(["urn:uuid:1"], at: ["192.0.2.5"], name: "door"),
            device(["urn:uuid:1"], at: ["fe80::5%eth1"]),
            device(["mac:02:00:5e:00:00:05"], at: ["192.0.2.5"], by: .dnsSD, urls: ["rtsp://192.0.2.5/"]),
        ]
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20 {
            sightings.shuffle(using: &random)
            let rows = rows(sightings)
            #expect(rows.count == 1)
            #expect(rows.first?.foundBy == [.wsDiscovery, .dnsSD] && rows.first?.name == "door")
            // The one that needs no interface comes first.
            #expect(rows.first?.addresses.map(\.description) == ["192.0.2.5", "fe80::5%eth1"])
        }
    }

    @Test("Cameras of one box or recorder share an address and stay apart, also beside a service of the box")
    func sharedAddress() {
        let cameras = (0..<10).flatMap { number in
            [
                device(["urn:uuid:\(number)", "device:\(number)"], at: ["192.0.2.5"]),
                device(["device:\(number)"], at: ["192.0.2.5"], by: .dnsSD),
            ]
        }
        #expect(rows(cameras).count == 10)
        #expect(rows(cameras + [device(at: ["192.0.2.5"], by: .dnsSD, urls: ["rtsp://192.0.2.5/"])]).count == 11)
    }

    @Test("Services of one device are one row by its address, several of one type at an address are several")
    func services() {
        let rtsp = service("Yard", .rtsp)
        let axis = service("Axis Yard 2.0", .axisVideo, text: ["macaddress": "ACCC8E270AD8"])
        let row = rows([rtsp, axis])
        #expect(row.count == 1 && row.first?.macAddress == "ac:cc:8e:27:0a:d8" && row.first?.nextStep == .add)
        #expect(rows([rtsp, axis, device(["urn:uuid:1"], at: ["192.0.2.5"])]).count == 1)
        #expect(rows([rtsp, service("Shed", .rtsp)]).count == 2)
    }

    @Test("Cameras of ours on one box stay apart, and one is no service of its box")
    func ours() {
        let mac = ["macaddr": "02:00:00:00:00:07", "productid": "iotvideod"]
        let cameras = (0..<3).map { number in
            service("Camera \(number)", .iotlink, text: mac.merging(["deviceid": id(number)]) { $1 })
        }
        #expect(rows(cameras).count == 3)
        var wsDiscovery = device(["urn:uuid:0", "device:\(id(0))"], at: ["192.0.2.5"], name: "Camera 0")
        wsDiscovery.deviceID = id(0)
        let both = rows([cameras[0], wsDiscovery])
        #expect(both.count == 1 && both.first?.foundBy == [.dnsSD, .wsDiscovery])
        #expect(rows([cameras[0], wsDiscovery, service("Recorder", .rtsp)]).count == 2)
    }

    @Test("A service that is lost is no longer listed")
    func lostService() {
        var table = DiscoveryTable()
        table.add(service("Camera 0", .iotlink, text: ["deviceid": id(0)]))
        guard
            case .gone(let identity, let foundBy) = ServiceEvent.lost(ServiceKey(name: "Camera 0", type: .iotlink))
                .sighting
        else { return #expect(Bool(false)) }
        table.remove(identity: identity, foundBy: foundBy)
        #expect(table.devices.isEmpty)
    }

    @Test("What a stranger's service says is a text, an address that can be reached, and an id that is one")
    func strangersService() {
        let device = service(
            "a\u{202E}b", .iotlink, text: ["deviceid": "$(reboot)", "serialnumber": "unknown"],
            addresses: ["127.0.0.1", "192.0.2.5"])
        #expect(device.deviceID == nil && device.serialNumber == nil && device.name == "ab")
        #expect(device.addresses.map(\.description) == ["192.0.2.5"])
    }

    private func id(_ number: Int) -> String { String(repeating: "a", count: 31) + "\(number)" }

    private func service(
        _ name: String, _ type: ServiceType, text: [String: String] = [:], addresses: [String] = ["192.0.2.5"]
    ) -> DiscoveredDevice {
        ServiceInstance(
            key: ServiceKey(name: name, type: type), host: "host.local", port: 554,
            addresses: addresses.compactMap { IPAddress($0) }, text: text
        ).device
    }

    @Test("The same serial number of two makers, and of two devices with MAC addresses, joins nothing")
    func serialNumbers() {
        let one = device(["serial:0001", "urn:uuid:1"], at: ["192.0.2.5"])
        let two = device(["serial:0001", "urn:uuid:2"], at: ["192.0.2.6"])
        #expect(rows([one, two]).count == 2)
        let service = device(["serial:0001"], at: ["192.0.2.7"], by: .dnsSD)
        #expect(rows([one, service]).count == 1)
    }

    @Test("Made-up identities are not ones")
    func noIdentities() {
        let zero = WSDTarget(
            endpoint: "urn:uuid:00000000-0000-0000-0000-000000000000",
            scopes: [
                "onvif://www.onvif.org/MAC/00:00:00:00:00:00", "onvif://www.onvif.org/serial/000000",
                "onvif://www.onvif.org/serial/unknown",
            ])
        #expect(DiscoveredDevice(zero, from: IPAddress("192.0.2.5")).identities.isEmpty)
    }

    @Test("What says that it goes is no longer listed, and a table holds no more than it may")
    func bounds() {
        var table = DiscoveryTable()
        for number in 0..<DiscoveryTable.capacity { table.add(device(["urn:uuid:\(number)"], at: [])) }
        let more = table.add(device(["urn:uuid:more"], at: []))
        let known = table.add(device(["urn:uuid:5"], at: ["192.0.2.5"]))
        #expect(!more && known)
        table.remove(identity: "urn:uuid:5", foundBy: .wsDiscovery)
        #expect(table.devices.count == DiscoveryTable.capacity - 1)
    }

    @Test("The next step follows from what a device says")
    func nextStep() {
        var ours = DiscoveredDevice(deviceID: String(repeating: "a", count: 32), productID: "iotvideod", hasOwner: true)
        #expect(ours.nextStep == .owned)
        ours.hasOwner = false
        #expect(ours.nextStep == .bind)
        ours.deviceID = nil
        #expect(ours.nextStep == .provision)
        #expect(DiscoveredDevice(serviceURLs: ["rtsp://192.0.2.5/"]).nextStep == .add)
        #expect(DiscoveredDevice(serviceURLs: ["http://192.0.2.5/"]).nextStep == .unknown)
    }

    @Test("Texts of strangers are cut, and hold nothing that moves a cursor")
    func texts() {
        #expect(DeviceText.clean("a\u{1B}[2J\u{202E}b\n c") == "a[2Jb c")
        #expect(DeviceText.clean(String(repeating: "ü", count: 500)).utf8.count <= DeviceText.maximumSize)
        #expect(DeviceText.clean("a" + String(repeating: "\u{301}", count: 40)) == "")
        #expect(DeviceText.macAddress("0200.5E00.0001") == "02:00:5e:00:00:01")
        #expect(DeviceText.macAddress("02:00:5e:00:00") == nil && DeviceText.macAddress("FF-FF-FF-FF-FF-FF") == nil)
    }

    @Test(
        "Addresses of services are read as they are written",
        arguments: [
            ("http://192.0.2.5", "http://192.0.2.5/"), ("HTTP://Cam.local:8080/a?b=c#d", "http://cam.local:8080/a?b=c"),
            ("http://admin:x@192.0.2.5/a", "http://192.0.2.5/a"),
            ("http://[2001:DB8::5]:80/", "http://[2001:db8::5]:80/"),
            ("http://[fe80::5%25eth0]/", "http://[fe80::5%25eth0]/"),
            ("rtsp://192.0.2.5:554/1", "rtsp://192.0.2.5:554/1"),
            ("http://[]/", nil), ("http://", nil), ("http:///a", nil), ("ftp://192.0.2.5/", nil), ("192.0.2.5", nil),
            ("http://192.0.2.5:0/", nil), ("http://192.0.2.5:99999/", nil), ("http://a b/", nil), ("http://[::1", nil),
            ("SERVICE_URI", nil),
        ] as [(String, String?)])
    func serviceURLs(text: String, expected: String?) {
        #expect(ServiceURL(text)?.text == expected)
    }
}
