def draw_all(n): return [], []
def check(n): return [], [], ""
