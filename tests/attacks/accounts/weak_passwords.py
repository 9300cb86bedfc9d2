"""Passwords of twelve characters and more that attackers try first."""

ABOUT = ("Ada Lovelace", "ada@example.com", "Harbour Nights")

COMMON = """
    password1234 qwertyuiop123 1q2w3e4r5t6y iloveyou1234 letmein12345 administrator1 welcome2026!!
    correcthorsebatterystaple trustno1trustno1 passwordpassword P@ssw0rd1234 qwerty123456 123456789012 abcdefghijkl
    Gatepass2026! aaaaaaaaaaaa 111111111111 Password123! Password2026! Passw0rd2026! Welcome12345 Summer2026!!
    Winter2025!! changeme1234 ChangeMe123! letmein!letmein iloveyouiloveyou qazwsxedcrfv 1qaz2wsx3edc zaq12wsxcde3
    asdfghjkl123 qwertyuiop[] qwertyuiopas zxcvbnm12345 superman1234 football2026 liverpool123 princess1234
    sunshine1234 monkey123456 dragon123456 master123456 baseball1234 michael12345 abc123abc123 123123123123
    000000000000 987654321098 mysecretpassword thisismypassword iloveyouforever leavemealone letmeinplease
    administrator2026 adminadmin123 admin1234567 rootroot1234 testtest1234 Test1234567! default12345 guest1234567
    opensesame123 startrek1234 starwars1977 batman123456 pokemon12345 minecraft123 justinbieber finalfantasy
    manchester123 barcelona123 realmadrid123 Passwort1234 motdepasse123 contraseña123 azertyuiop123 p@ssword1234
    pa$$word1234 hunter2hunter2 computer1234 samsung12345 facebook1234 jesuschrist1 ticketsticket events2026!!
    gatepassgatepass gatepassstudio nevergonnagiveyouup tobeornottobe
""".split()

PERSONAL = [
    "ada@example.com1",
    "ada@example.com2026!",
    "ADA@EXAMPLE.COM",
    "AdaLovelace1",
    "Ada Lovelace 1815",
    "ada.lovelace1",
    "lovelace2026!",
    "ecalevol2026!",
    "HarbourNights2026",
    "harbour-nights!",
    "harb0urn1ghts",
    "Harbour Nights 26",
]
