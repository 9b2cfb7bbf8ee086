import COpenSSL

/// An OpenSSL natural number that is erased from memory when it is released.
///
/// `@unchecked Sendable`: it never changes after its initialization, and OpenSSL only reads its operands.
final class BigNumber: @unchecked Sendable {
    fileprivate let pointer: OpaquePointer

    private init(_ pointer: OpaquePointer?) {
        guard let pointer else { preconditionFailure("OpenSSL has no memory left") }
        self.pointer = pointer
        // RFC 5054 §2.1: exponents are secrets here; OpenSSL then computes in constant time.
        BN_set_flags(pointer, BN_FLG_CONSTTIME)
    }

    deinit {
        BN_clear_free(pointer)
    }

    /// Big-endian.
    convenience init(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        self.init(BN_bin2bn(bytes, Int32(bytes.count), nil))
    }

    private static func compute(
        _ body: (_ result: OpaquePointer?, _ context: OpaquePointer?) -> Int32
    ) -> BigNumber {
        let context = BN_CTX_secure_new()
        defer { BN_CTX_free(context) }
        let result = BigNumber(BN_new())
        guard body(result.pointer, context) == 1 else { preconditionFailure("OpenSSL has no memory left") }
        return result
    }

    var isZero: Bool { BN_is_zero(pointer) == 1 }

    /// Big-endian, padded with leading zeros to `count` bytes.
    func bytes(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard BN_bn2binpad(pointer, &bytes, Int32(count)) == Int32(count) else {
            preconditionFailure("the number has more than \(count) bytes")
        }
        return bytes
    }

    func plus(_ other: BigNumber) -> BigNumber {
        Self.compute { result, _ in BN_add(result, pointer, other.pointer) }
    }

    func times(_ other: BigNumber) -> BigNumber {
        Self.compute { BN_mul($0, pointer, other.pointer, $1) }
    }

    func modulo(_ modulus: BigNumber) -> BigNumber {
        Self.compute { BN_nnmod($0, pointer, modulus.pointer, $1) }
    }

    func times(_ other: BigNumber, modulo modulus: BigNumber) -> BigNumber {
        Self.compute { BN_mod_mul($0, pointer, other.pointer, modulus.pointer, $1) }
    }

    func minus(_ other: BigNumber, modulo modulus: BigNumber) -> BigNumber {
        Self.compute { BN_mod_sub($0, pointer, other.pointer, modulus.pointer, $1) }
    }

    /// In constant time; `modulus` is odd and `self` less than it.
    func power(_ exponent: BigNumber, modulo modulus: BigNumber) -> BigNumber {
        Self.compute { BN_mod_exp_mont_consttime($0, pointer, exponent.pointer, modulus.pointer, $1, nil) }
    }
}
