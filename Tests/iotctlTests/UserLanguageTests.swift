import Testing

@testable import iotctl

@Suite struct UserLanguageTests {
    @Test("The language of messages comes from the locale's first variable that is set")
    func locale() {
        let cases: [([String: String], String?)] = [
            (["LANG": "de_AT.UTF-8"], "de-AT"), (["LANG": "zh_CN"], "zh-CN"), (["LANG": "ca_ES@valencia"], "ca-ES"),
            (["LANG": "de_DE", "LC_ALL": "fr_FR.UTF-8"], "fr-FR"), (["LANG": "de_DE", "LC_ALL": ""], "de-DE"),
            (["LANG": "en_GB", "LC_MESSAGES": "it"], "it"), (["LANG": "C.UTF-8"], nil), (["LANG": "POSIX"], nil),
            ([:], nil), (["LANG": "../x"], nil),
        ]
        for (environment, tag) in cases { #expect(UserLanguage.tag(environment) == tag, "\(environment)") }
    }
}
