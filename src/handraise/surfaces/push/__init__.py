"""Web Push: asks on the phones and browsers of whoever switched it on, taken back when they are answered."""
