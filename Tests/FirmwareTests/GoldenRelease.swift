import Firmware
import IoTCore
import Testing

/// A release whose key and signature OpenSSL 3.0 made:
///
///     openssl genpkey -algorithm ed25519 -out k.pem
///     openssl pkeyutl -sign -inkey k.pem -rawin -in manifest -out signature
enum GoldenRelease {
    static let file = Array("firmware".utf8)

    static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIIASftwvTu0n9WDrBVm0r98hdEM76Ddjh39LlzcZsMKP
        -----END PRIVATE KEY-----

        """

    static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAl20deoiIPnBZMljEK5wJ7lAslLmJuheyGG9DMHKEGZU=
        -----END PUBLIC KEY-----

        """

    /// `openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64`
    static let fingerprint = "SHA256:K4j07HZFC1x/PyD4jVSj46sR6d0s3s/1i348+m17GPc"

    static let manifest =
        #"{"descriptions":{"en":"Faster start.","zh-CN":"启动更快。"},"from":["0.1.*"],"model":"iotvideod-amd64","#
        + #""sha256":"c3bf47ea1f4a4a605470313cacb3a44f4a461f68c6faeab07e737610cb5ac835","size":8,"#
        + #""type":"iotvideod firmware 1","version":"0.2.0"}"#

    static let signature =
        "3eb1c7f28c06b6369d4a1165dfa9fdb06ccbd9c9582863c2ff6ca0b1c41000846417ece5d9c97983a716e6a24318f612b733527058ffe8"
        + "1482d03a31dd6ba501"

    static var signed: SignedManifest {
        get throws {
            SignedManifest(bytes: Array(manifest.utf8), signature: try #require(Hex.decode(signature)))
        }
    }

    static var key: ReleasePublicKey {
        get throws { try #require(ReleasePublicKey(pem: publicKey)) }
    }
}

/// The number of the error that `body` throws; `nil` if it throws none.
func code(_ body: () throws -> Void) -> ErrorCode? {
    do {
        try body()
        return nil
    } catch {
        return (error as? IoTError)?.code ?? .internalFailure
    }
}
