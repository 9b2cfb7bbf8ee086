/// HTTP header fields that the API adds to the standard ones.
public enum APIHeader {
    /// On a snapshot: its picture's presentation time, µs on the source's clock.
    public static let pts = "Iotvideo-Pts"

    /// After a body that is made while it is read (a trailer, RFC 9110 §6.5): whole frames that its reader was too slow
    /// for.
    public static let framesDropped = "Iotvideo-Frames-Dropped"

    /// On a request that changes something: 1–64 characters of `A–Z a–z 0–9 _ - .`. A repeat within 10 minutes
    /// gets the first answer and changes nothing again.
    public static let idempotencyKey = "Idempotency-Key"
}
