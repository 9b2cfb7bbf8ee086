import IoTCore
import Testing

@testable import NetConfig

@Suite struct WSDMessageTests {
    @Test(
        "Every shape of answer gives one device with its identity, address and ONVIF service",
        arguments: Fixture.allCases)
    func fixtures(fixture: Fixture) throws {
        let devices = try fixture.devices()
        try #require(devices.count == 1)
        #expect(devices[0].identities.contains { $0.hasPrefix("urn:uuid:00000000-") })
        #expect(!devices[0].addresses.isEmpty)
        #expect(devices[0].onvifURL?.hasSuffix("/onvif/device_service") == true)
        #expect(devices[0].nextStep == .add)
        #expect(devices[0].foundBy == [.wsDiscovery])
    }

    @Test("What the makers write where is found")
    func facts() throws {
        let axis = try #require(try Fixture.axis.devices(from: "169.254.10.11").first)
        #expect(axis.name == "AXIS M2036-LE" && axis.model == "M2036-LE")
        // The address that was heard comes first, and so do its services.
        #expect(axis.addresses.map(\.description) == ["169.254.10.11", "192.0.2.90"])
        #expect(axis.serviceURLs.count == 4)
        #expect(axis.onvifURL == "http://169.254.10.11/onvif/device_service")

        let hikvision = try #require(try Fixture.hikvision.devices().first)
        #expect(hikvision.macAddress == "02:00:5e:00:00:02")
        #expect(hikvision.identities.contains("mac:02:00:5e:00:00:02"))

        let tpLink = try #require(try Fixture.tpLink.devices().first)
        #expect(tpLink.identities == ["urn:uuid:00000000-0000-4000-8000-02005e000003"])
        #expect(tpLink.onvifURL == "http://192.0.2.30:2020/onvif/device_service")

        let madeUp = try #require(try Fixture.madeUp.devices(from: "fe80::5eff:fe00:6%eth0").first)
        #expect(madeUp.name == "Küche 📷" && madeUp.model == "Made/Up" && madeUp.version == "1.2.3")
        #expect(madeUp.serialNumber == "SN-0006" && madeUp.macAddress == "02:00:5e:00:00:06")
        #expect(madeUp.identities.contains("urn:uuid:00000000-0000-4000-8000-02005e000006"))
        #expect(
            madeUp.serviceURLs == [
                "http://[fe80::5eff:fe00:6%25eth0]/onvif/device_service",
                "http://[2001:db8::6]:8080/onvif/device_service",
            ])
    }

    @Test("What is written is read the same")
    func roundTrip() throws {
        let target = WSDTarget(
            endpoint: "urn:uuid:1", types: [WSDNamespace.camera, WSDNamespace.videoTransmitter],
            scopes: ["iotlink://camera/name/a%26b", "onvif://www.onvif.org/<&>\"'"],
            serviceURLs: ["http://192.0.2.1/a?b&c"], metadataVersion: 3)
        let filter = WSDFilter(types: [WSDNamespace.camera], scopes: ["a:b"], rule: .strcmp0)
        for body: WSDMessage.Body in [
            .probe(filter), .probe(WSDFilter()), .probeMatches([target, target]), .hello(target),
            .bye(WSDTarget(endpoint: "urn:uuid:2")),
            .resolve("urn:uuid:3"), .resolveMatches(target), .resolveMatches(nil),
        ] {
            let message = WSDMessage(
                id: "urn:uuid:<1>", relatesTo: "a&b", sequence: WSDMessage.Sequence(instance: 7, number: 9), body: body)
            #expect(try WSDMessage(message.bytes) == message)
        }
    }

    @Test("Another SOAP message is not one of WS-Discovery")
    func others() {
        let body = "<e:Envelope xmlns:e='\(WSDNamespace.soap)'><e:Body><a xmlns='urn:a'/></e:Body></e:Envelope>"
        #expect(throws: WSDFailure.unknownBody) { try WSDMessage(Array(body.utf8)) }
        #expect(throws: WSDFailure.notAnEnvelope) { try WSDMessage(Array("<a/>".utf8)) }
    }

    @Test("Scopes match by whole segments, without regard to the case of scheme and authority")
    func scopes() {
        let scope = "onvif://www.onvif.org/location/country/china"
        for wanted in [
            scope, "onvif://www.onvif.org/location", "ONVIF://WWW.onvif.ORG/location/country/", "onvif://www.onvif.org",
            "onvif://www.onvif.org/%6Cocation",
        ] { #expect(WSDScope.isPrefix(wanted, of: scope), "\(wanted)") }
        for wanted in [
            "onvif://www.onvif.org/loc", "onvif://www.onvif.org/Location", "onvif://onvif.org/location", scope + "/x",
            "http://www.onvif.org/location", "onvif://www.onvif.org/location/../location", "",
        ] { #expect(!WSDScope.isPrefix(wanted, of: scope), "\(wanted)") }
    }

    @Test("Printers and computers are not listed, and a camera with an undeclared prefix is")
    func kinds() {
        let camera = XMLElement.Name("", "NetworkVideoTransmitter")
        #expect(WSDTarget(endpoint: "a", types: [camera]).isCamera)
        #expect(WSDTarget(endpoint: "a", scopes: ["onvif://www.onvif.org/name/a"]).isCamera)
        #expect(!WSDTarget(endpoint: "a", types: [XMLElement.Name("urn:wsdp", "Device")]).isCamera)
        #expect(!WSDTarget(endpoint: "a").isCamera)
    }
}
