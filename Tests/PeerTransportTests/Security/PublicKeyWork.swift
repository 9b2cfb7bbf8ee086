import COpenSSL
import Glibc

/// Counts this thread's public-key operations: signatures, verifications, and key agreements.
///
/// This test program defines the functions that OpenSSL's TLS uses for them. Each counts and calls the original.
enum PublicKeyWork {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { $0?.deallocate() }
        return key
    }()

    private static var cell: UnsafeMutablePointer<Int> {
        if let pointer = pthread_getspecific(key) { return pointer.assumingMemoryBound(to: Int.self) }
        let pointer = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        pointer.initialize(to: 0)
        pthread_setspecific(key, pointer)
        return pointer
    }

    static var count: Int { cell.pointee }

    static func note() { cell.pointee += 1 }

    /// The library's original function. RTLD_NEXT, a macro, is −1.
    static func next<Function>(_ name: String, as type: Function.Type) -> Function {
        guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: -1), name) else {
            fatalError("OpenSSL has no \(name)")
        }
        return unsafeBitCast(symbol, to: type)
    }
}

private typealias Sign =
    @convention(c) (
        OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?, Int
    ) -> CInt
private typealias Verify =
    @convention(c) (OpaquePointer?, UnsafeRawPointer?, Int, UnsafeRawPointer?, Int) -> CInt
private typealias Derive =
    @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CInt
private let sign = PublicKeyWork.next("EVP_DigestSign", as: Sign.self)
private let verify = PublicKeyWork.next("EVP_DigestVerify", as: Verify.self)
private let derive = PublicKeyWork.next("EVP_PKEY_derive", as: Derive.self)

@_cdecl("EVP_DigestSign")
public func interposedSign(
    _ context: OpaquePointer?, _ signature: UnsafeMutableRawPointer?, _ length: UnsafeMutableRawPointer?,
    _ bytes: UnsafeRawPointer?, _ count: Int
) -> CInt {
    PublicKeyWork.note()
    return sign(context, signature, length, bytes, count)
}

@_cdecl("EVP_DigestVerify")
public func interposedVerify(
    _ context: OpaquePointer?, _ signature: UnsafeRawPointer?, _ length: Int, _ bytes: UnsafeRawPointer?, _ count: Int
) -> CInt {
    PublicKeyWork.note()
    return verify(context, signature, length, bytes, count)
}

@_cdecl("EVP_PKEY_derive")
public func interposedDerive(
    _ context: OpaquePointer?, _ secret: UnsafeMutableRawPointer?, _ length: UnsafeMutableRawPointer?
) -> CInt {
    PublicKeyWork.note()
    return derive(context, secret, length)
}
