import Firmware
import Testing

@Suite struct FirmwareVersionTests {
    // semver.org, §11, and the order of its example for preliminary versions.
    static let ascending = [
        "0.1.0", "0.1.9", "0.1.10", "0.2.0-1", "0.2.0-2", "0.2.0-10", "0.2.0-alpha", "0.2.0-alpha.1",
        "0.2.0-alpha.beta", "0.2.0-beta", "0.2.0-beta.2", "0.2.0-beta.11", "0.2.0-rc.1", "0.2.0", "1.0.0", "1.0.1",
        "10.0.0", "999999999.0.0",
    ]

    @Test("Versions have the order of semantic versions")
    func order() throws {
        let versions = try Self.ascending.map { try #require(FirmwareVersion($0)) }
        for (index, version) in versions.enumerated() {
            for (other, second) in versions.enumerated() {
                #expect((version < second) == (index < other), "\(version) and \(second)")
            }
            #expect(version.description == Self.ascending[index])
        }
    }

    @Test(
        "Other texts are no versions",
        arguments: [
            "", "1", "1.2", "1.2.3.4", "1.2.x", "01.2.3", "1.2.3-", "1.2.3-a..b", "1.2.3-01", "1.2.3+build", "-1.2.3",
            "1.2.3 ", "v1.2.3", "1000000000.0.0", "1.2.3-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "1.2.٣", "1.2.3-ä",
        ])
    func malformed(text: String) {
        #expect(FirmwareVersion(text) == nil)
    }

    @Test(
        "The version in a maker's text",
        arguments: [
            ("V5.7.3 build 220112", "5.7.3"), ("2.800.0000000.31.R, Build Date: 2021-05-11", "2.800.0-31"),
            ("1.0", "1.0.0"),
            ("fw 3 v04.05", "4.5.0"), ("1.2.3.4.5", "1.2.3-4.5"), ("build 7", nil), ("", nil),
            ("9999999999.1", nil), (".. 1..2 ..", "1.2.0"),
        ])
    func maker(text: String, version: String?) {
        #expect(FirmwareVersion(foundIn: text)?.description == version)
    }

    @Test("The number of a thing model is the same version")
    func number() {
        #expect(FirmwareVersion(number: 1000).description == "0.1.0")
        #expect(FirmwareVersion(number: 12_034_056).description == "12.34.56")
    }

    @Test("A pattern matches one version, or a series")
    func patterns() throws {
        let version = try #require(FirmwareVersion("0.1.10"))
        let expected = ["0.1.10": true, "0.1.1": false, "0.1.*": true, "0.*": true, "0.10.*": false, "1.*": false]
        for (text, matches) in expected {
            let pattern = try #require(VersionPattern(text))
            #expect(pattern.matches(version) == matches, "\(text)")
            #expect(pattern.description == text)
        }
        for text in ["", "*", "0", "0.1", "0.*.1", "0.1.2.*", "a.*", "0.1.1*"] { #expect(VersionPattern(text) == nil) }
    }
}
