import IoTCore
import Testing

@testable import NetConfig

@Suite struct ServiceInstanceTests {
    private func instance(
        _ type: ServiceType, port: Int = 554, text: [String: String] = [:], addresses: [String] = ["192.0.2.7"]
    ) -> ServiceInstance {
        ServiceInstance(
            key: ServiceKey(name: "Yard", type: type), host: "yard.local", port: port,
            addresses: addresses.compactMap { IPAddress($0) }, text: text)
    }

    @Test("An RTSP service gives its URL for each address")
    func rtsp() {
        #expect(instance(.rtsp, text: ["path": "/live/main"]).device.serviceURLs == ["rtsp://192.0.2.7/live/main"])
        #expect(
            instance(.rtsp, port: 8554, text: ["path": "a b\"?x=1"], addresses: ["192.0.2.7", "fe80::1%lan0"]).device
                .serviceURLs == ["rtsp://192.0.2.7:8554/a%20b%22?x=1", "rtsp://[fe80::1%25lan0]:8554/a%20b%22?x=1"])
        #expect(instance(.rtsp).device.identities == ["service:Yard._rtsp._tcp"])
    }

    @Test("An Axis camera is known by its MAC address")
    func axis() {
        let device = instance(.axisVideo, port: 80, text: ["macaddress": "ACCC8E270AD8"]).device
        #expect(device.macAddress == "ac:cc:8e:27:0a:d8" && device.serialNumber == "ACCC8E270AD8")
        #expect(device.identities.isSuperset(of: ["mac:ac:cc:8e:27:0a:d8", "serial:ACCC8E270AD8"]))
        #expect(device.serviceURLs == ["http://192.0.2.7/"] && device.manufacturer == "Axis")
        #expect(instance(.axisVideo, text: ["macaddress": "no address"]).device.macAddress == nil)
    }

    @Test("A camera of ours whose owner is not said has none that is known")
    func iotlink() {
        #expect(instance(.iotlink, text: ["deviceid": "a"]).device.hasOwner == nil)
        #expect(instance(.iotlink, text: ["hasowner": "0"]).device.hasOwner == false)
        #expect(instance(.iotlink, text: ["keyfingerprint": "SHA256:AAEC"]).device.keyFingerprint == nil)
        #expect(instance(.iotlink).device.serviceURLs.isEmpty)
    }

    @Test("A name with a number keeps within 63 bytes and cuts no character")
    func labels() {
        let name = String(repeating: "é", count: 40)
        let announcement = ServiceAnnouncement(id: "a", name: name, type: .iotlink, port: 1, text: [])
        #expect(announcement.label(attempt: 0).utf8.count == 62)
        #expect(announcement.label(attempt: 11).hasSuffix("é (12)") && announcement.label(attempt: 11).utf8.count <= 63)
    }

    @Test("Two interfaces give one service with both addresses, which stays until both have lost it")
    func table() {
        var table = InstanceTable<Int>()
        let first = instance(.rtsp, addresses: ["192.0.2.7"])
        let second = instance(.rtsp, addresses: ["fe80::1%lan0"])
        let both = instance(.rtsp, addresses: ["192.0.2.7", "fe80::1%lan0"])
        #expect(table.take(.found(first), from: 1) == .found(first))
        #expect(table.take(.found(first), from: 1) == nil)
        #expect(table.take(.found(second), from: 2) == .found(both))
        #expect(table.take(.lost(first.key), from: 1) == .found(second))
        #expect(table.take(.lost(first.key), from: 1) == nil)
        #expect(table.remove { $0 == 2 } == [.lost(first.key)])
        #expect(table.instances.isEmpty)
    }
}
